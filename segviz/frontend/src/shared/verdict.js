// The verdict on a question: one sentence about two rankings.

export const NAMED = 2; // nodes that are named of some

/** What became of the gold turns, and how many nodes were replaced; `leaves` are the gold leaves.
 * @type {(answer: Judged, leaves: Ids) => TipLine} */
export function verdictOf({ entered, after, moved, gold, was, is, held }, leaves) {
  const size = after.length;
  const moves = moved === 2 ? "2 swapped" : moved ? `${moved} in another place` : "same order";
  const replaced = entered.length ? `${entered.length} of ${size} replaced`
    : `same ${size} node${size === 1 ? "" : "s"}, ${moves}`;
  /** @type {(fates: Record<string, string[]>, turn: string) => number} */
  const worth = (fates, turn) => (fates.found.includes(turn) ? 2 : fates.covered.includes(turn) ? 1 : 0);
  const turns = Object.values(gold.after).flat();
  if (!turns.length) return ["same", replaced];
  const gains = turns.filter((turn) => worth(gold.after, turn) > worth(gold.before, turn));
  const drops = turns.filter((turn) => worth(gold.after, turn) < worth(gold.before, turn));
  /** ": rank 9 → 5" of the leaves that hold some turns, or of the wider nodes that quote them; ""
   *  where their level is not admitted.
   * @type {(some: string[], quoted?: boolean) => string} */
  const shifts = (some, quoted = false) => [...held.keys()]
    .filter((node) => quoted !== leaves.includes(node) && was.get(node) && is.get(node)
      && held.get(node)?.some((turn) => some.includes(turn)))
    .sort((a, b) => (is.get(a) ?? 0) - (is.get(b) ?? 0)).slice(0, NAMED)
    .map((node, i) => `${i ? ", " : ": rank "}${was.get(node)} → ${is.get(node)}`).join("");
  /** @type {(some: string[], words: [string, string]) => string} */
  const told = (some, [whole, quoted]) => {
    const narrow = some.some((turn) => gold.after.found.includes(turn) || gold.before.found.includes(turn));
    const share = gold.asked > 1 ? ` ${some.length} of ${gold.asked}` : "";
    return `Gold ${narrow ? whole : quoted}${share}${shifts(some, !narrow)}`;
  };
  const { found, missed } = gold.after;
  /** @type {TipLine} */
  const [tone, words] = gains.length && drops.length
    ? ["same", `Gold: ${gains.length} won, ${drops.length} lost`]
    : gains.length ? ["better", told(gains, ["gained", "quoted by a wider node now"])]
      : drops.length ? ["worse", told(drops, ["lost", "no longer quoted"])]
        : found.length === gold.asked ? ["same", "All gold found, before and after"]
          : !missed.length ? ["same", "Gold found or quoted, before and after"]
            : ["same", `Gold ${found.length ? `${found.length} of ${gold.asked} found as before, missed` : "still missed"}${shifts(missed)}`];
  return [tone, `${words} · ${replaced}`];
}
