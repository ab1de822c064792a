// metronome.js: beats time for playing. Draws nothing.
//
// The next beat is due only once Python has answered the last one, so a slow page is played
// slowly and never falls behind a queue of beats.

const STATE = "segvizMetronome";
const PATIENCE_MS = 4000;

export default function ({ data, parentElement, setTriggerValue }) {
  const s = (parentElement[STATE] ??= { calls: 0, timer: 0, sent: -Infinity });
  const call = ++s.calls;
  clearTimeout(s.timer);
  if (data?.milliseconds) {
    const beat = () => {
      s.sent = performance.now();
      setTriggerValue("beat", data.beat);
      // A run cut short may swallow an answer; Python ignores a beat it has had.
      s.timer = setTimeout(beat, PATIENCE_MS);
    };
    s.timer = setTimeout(beat, Math.max(0, data.milliseconds - (performance.now() - s.sent)));
  }
  // Streamlit may run the clean-up of an overtaken call after a later call: ignore it.
  return () => {
    if (call === s.calls) clearTimeout(s.timer);
  };
}
