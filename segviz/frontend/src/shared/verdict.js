// The verdict on a question: one sentence about two rankings.

export const NAMED = 2; // nodes that are named of some

/** Sorts gold turns by the best of what became of them: in the first of the sets, the second, the
 *  third, or in none.
 * @type {(turns: string[], sets: Set<string>[]) => Fates} */
export function fatesOf(turns, sets) {
  const [found, quoted, answered, missed] = [0, 1, 2, -1].map((fate) =>
    turns.filter((turn) => sets.findIndex((set) => set.has(turn)) === fate));
  return { found, quoted, answered, missed };
}

/** What became of the gold turns, and how many nodes enter; `leaves` are the gold leaves,
 *  `called` names a node, `why` says what the first missed leaf lacks, `fell` why leaves fall. Gold
 *  that is said later than the moment that is asked is counted last.
 * @type {(answer: Judged, leaves: Ids, called: (node: number) => string, why?: string, fell?: string) => TipLine} */
export function verdictOf({ entered, left, after, moved, gold, was, is, held }, leaves, called, why = "", fell = "") {
  const size = after.length;
  const moves = moved === 2 ? "2 swapped" : moved ? `${moved} in another place` : "same order";
  const verb = entered.length === 1 ? "enters" : "enter";
  const kept = `ame ${size} node${size === 1 ? "" : "s"}, ${moves}`;
  const shrinks = left.length ? `${left.length} ${left.length === 1 ? "leaves" : "leave"}` : "";
  const turns = Object.values(gold.after).flat();
  const unsaid = gold.later ? ` · ${gold.later} gold not said yet` : "";
  if (!turns.length) return ["same", (entered.length ? `${entered.length} of ${size} nodes ${verb}` : shrinks || `S${kept}`) + unsaid];
  const { found, answered, missed } = gold.after;
  const known = turns.length - missed.length;
  const gains = gold.before.missed.filter((turn) => !gold.after.missed.includes(turn));
  const drops = gold.after.missed.filter((turn) => !gold.before.missed.includes(turn));
  /** @type {(nodes: unknown[]) => string} */
  const unnamed = (nodes) => (nodes.length ? `, and ${nodes.length} more` : "");
  /** The leaves that hold some turns, or the wider nodes that quote them, best first; none where
   *  their level is not admitted.
   * @type {(some: string[], quoted?: boolean) => number[]} */
  const holders = (some, quoted = false) => [...held.keys()]
    .filter((node) => quoted !== leaves.includes(node) && was.get(node) && is.get(node)
      && held.get(node)?.some((turn) => some.includes(turn)))
    .sort((a, b) => (is.get(a) ?? 0) - (is.get(b) ?? 0));
  /** ": rank 9 → 5" of those nodes.
   * @type {(some: string[], quoted?: boolean) => string} */
  const shifts = (some, quoted) => {
    const nodes = holders(some, quoted);
    return nodes.slice(0, NAMED).map((node, i) => `${i ? ", " : ": rank "}${was.get(node)} → ${is.get(node)}`).join("")
      + unnamed(nodes.slice(NAMED));
  };
  /** ` by “title” on level 2, rank 2, and 1 more`: the best retrieved node that has some turns.
   * @type {(some: string[]) => string} */
  const stating = (some) => {
    const [node, ...more] = after.filter((each) => held.get(each)?.some((turn) => some.includes(turn)));
    return node === undefined ? ""
      : ` by ${called(node)}, rank ${is.get(node)}${unnamed(more)}`;
  };
  /** The sentence on turns that a setting gains or loses: one was found, or all were quoted or answered.
   * @type {(verb: string, some: string[], fates: Fates) => string} */
  const sentence = (verb, some, fates) => {
    const what = gold.asked === 1 ? `${verb} the gold turn` : some.length === gold.asked ? `${verb} all ${gold.asked} gold turns`
      : `${verb} ${some.length} gold turn${some.length === 1 ? "" : "s"}, now ${known} of ${gold.asked}`;
    const [now, before] = fates === gold.after ? [stating(some), ""] : ["", " before"];
    if (some.every((turn) => fates.answered.includes(turn))) return `${what}, answered${now}${before}`;
    if (some.some((turn) => fates.found.includes(turn))) {
      const [best] = holders(some);
      const falls = fates === gold.before && (was.get(best) ?? 0) < (is.get(best) ?? 0);
      return `${what}${shifts(some)}${fell && falls ? `, ${fell}` : ""}`;
    }
    return `${what}, quoted by a wider node${before}${shifts(some, true)}`;
  };
  /** @type {TipLine} */
  const [tone, words] = gains.length && drops.length
    ? ["same", `Gold: gains ${gains.length}, loses ${drops.length}, now ${known} of ${gold.asked}`]
    : gains.length ? ["better", sentence("Gains", gains, gold.after)]
      : drops.length ? ["worse", sentence("Loses", drops, gold.before)]
        : found.length === gold.asked && gold.before.found.length === gold.asked
          ? ["same", "All gold found, before and after"]
          : !missed.length ? ["same", `Gold in evidence as before${answered.length ? `: answered${stating(answered)}` : ""}`]
            : ["same", `Gold ${known ? `${known} of ${gold.asked} in evidence as before, missed` : "still missed"}${shifts(missed)}${why && `, ${holders(missed).length > 1 ? "the first " : ""}${why}`}`];
  return [tone, `${words} · ${entered.length ? `${entered.length} ${verb}` : shrinks || `s${kept}`}${unsaid}`];
}
