"""What runs in the browser, a small npm package, and what Python sends it.

``src/`` holds the sources (canvas, outline, lists, exported page, playback timer), ``test/``
their tests for node, ``dist/`` what esbuild makes of them; ``npm run build``, ``check``,
``lint`` and ``test`` are explained in ``package.json``. ``bundles`` reads ``dist/``,
``message`` lays out what travels, ``payload`` and ``outline`` say what that is for a
Structure, ``live`` and ``found`` answer the canvas. Nothing here imports Streamlit; the
components are mounted by ``segviz.ui.widgets``.
"""
