// What the rows of a dot say: an answer, for the verdict, and where each node stands on both sides.

import { fatesOf } from "../shared/verdict.js";

const NARROW = 4; // READ_BEFORE is 1, READ_AFTER is 2 (atlas.py)
const GOLD_LISTED = 3; // gold nodes below the retrieved ones that have a line of their own

/** Whether a node is read before (side 0) or after (side 1).
 * @type {(row: RankRow, side: number) => boolean} */
const isRead = ([, , , flags], side) => (flags & (1 << side)) !== 0;

/** The rank of a node before (side 0) or after (side 1), 0 for none.
 * @type {(row: RankRow, side: number) => number} */
export const rankOf = ([, was, is], side) => (side ? is : was);

/** The gold turns of a row that are read on a side, and those it only answers: less than the node
 *  has, where a token budget cuts it.
 * @type {(row: RankRow, side: number) => [turns: number[], answers: number[]]} */
export const turnsRead = ([, , , , turns, answers, cut], side) => cut?.[side] ?? [turns, answers];

/** Numbers of the rows for which `keep` holds, the best rank of a side first.
 * @type {(rows: RankRow[], side: number, keep: (row: RankRow) => boolean) => number[]} */
const ranked = (rows, side, keep) => [...rows.keys()].filter((i) => keep(rows[i]))
  .sort((a, b) => rankOf(rows[a], side) - rankOf(rows[b], side));

/** The rows of a dot as an answer, whose nodes are their numbers, and its gold leaves.
 * @type {(dot: Dot) => [answer: Judged, leaves: number[]]} */
export function answerOf({ rows, asked }) {
  const [before, after] = [0, 1].map((side) => ranked(rows, side, (row) => isRead(row, side)));
  const [was, is] = [0, 1].map((side) => new Map(rows.map((row, i) => [i, rankOf(row, side)])));
  const leaves = [...rows.keys()].filter((i) => rows[i][3] & NARROW);
  const held = new Map([...rows.entries()].filter(([, row]) => row[4].length)
    .map(([i, row]) => [i, row[4].map(String)]));
  const known = [...new Set(leaves.flatMap((i) => held.get(i) ?? []))];
  /** @type {(read: number[], side: number) => Fates} */
  const fates = (read, side) => {
    const all = read.map((i) => ({ narrow: leaves.includes(i), turns: turnsRead(rows[i], side) }));
    /** @type {(narrow: boolean) => Set<string>} */
    const quotedIn = (narrow) => new Set(all.filter((one) => one.narrow === narrow)
      .flatMap(({ turns: [turns, answers] }) => turns.filter((turn) => !answers.includes(turn)).map(String)));
    return fatesOf(known, [quotedIn(true), quotedIn(false), new Set(all.flatMap(({ turns: [turns] }) => turns.map(String)))]);
  };
  return [{ after, was, is, held, entered: after.filter((i) => !before.includes(i)),
    left: before.filter((i) => !after.includes(i)),
    moved: after.filter((i, at) => before.includes(i) && before[at] !== i).length,
    gold: { before: fates(before, 0), after: fates(after, 1), asked, later: 0 } }, leaves];
}

/** The line of each node in the lists before and after; undefined where it has none. Below the
 *  retrieved nodes (above `edge`) are gold nodes, then on the last line the others that enter or leave.
 * @type {(rows: RankRow[]) => { lines: number, edge: number, places: (number | undefined)[][] }} */
export function placesOf(rows) {
  const groups = [0, 1].map((side) => {
    const out = ranked(rows, side, (row) => !isRead(row, side) && rankOf(row, side) > 0);
    /** @param {number} i */
    const enters = (i) => isRead(rows[i], 1 - side);
    const golds = out.filter((i) => rows[i][4].length);
    const listed = [...golds.filter(enters), ...golds.filter((i) => !enters(i))].slice(0, GOLD_LISTED);
    return { read: ranked(rows, side, (row) => isRead(row, side)),
      gold: golds.filter((i) => listed.includes(i)),
      rest: out.filter((i) => enters(i) && !listed.includes(i)) };
  });
  const edge = Math.max(...groups.map(({ read }) => read.length));
  const last = edge + 0.5 + Math.max(...groups.map(({ gold }) => gold.length));
  const places = groups.map(({ read, gold, rest }) => {
    const at = new Map([...read.entries()].map(([line, i]) => [i, line]));
    gold.forEach((i, line) => at.set(i, edge + 0.5 + line));
    rest.forEach((i) => at.set(i, last));
    return rows.map((_, i) => at.get(i));
  });
  return { edge, places, lines: last + 1 };
}
