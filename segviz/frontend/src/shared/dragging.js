// A file may be dropped anywhere on the page: while one is dragged over it, the upload zone of
// `.st-key-dropped` covers the page (the rules are in style.py). Streamlit itself takes the file.

/** Listens to drags of files over the page; returns what ends that.
 * @returns {() => void} */
export function listenDragging() {
  const { dataset } = document.documentElement;
  /** @param {DragEvent} event */
  const over = (event) => {
    const inZone = event.composedPath().some((at) => at instanceof Element
      && at.matches('[data-testid="stFileUploaderDropzone"]'));
    const covered = dataset.segvizDragging !== undefined;
    if (event.dataTransfer?.types.includes("Files") && !inZone && !covered) dataset.segvizDragging = "";
  };
  /** @param {DragEvent} event */
  const end = (event) => {
    if (event.type === "drop" || !event.relatedTarget) delete dataset.segvizDragging; // left the window
  };
  document.addEventListener("dragenter", over, true);
  document.addEventListener("dragleave", end, true);
  document.addEventListener("drop", end, true);
  return () => {
    document.removeEventListener("dragenter", over, true);
    document.removeEventListener("dragleave", end, true);
    document.removeEventListener("drop", end, true);
  };
}
