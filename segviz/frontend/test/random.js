// Repeatable random numbers for tests (mulberry32).

export function randomly(seed) {
  let state = seed;
  const share = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return { share, whole: (low, high) => low + Math.floor(share() * (high - low + 1)) };
}
