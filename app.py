"""Entry point for ``streamlit run app.py``; the ``segviz`` command starts the same app."""

from streamlit import App

from segviz.ui.security import RIM

if __name__ == "__main__":  # Streamlit draws the page
    from segviz.ui.main import main

    main()
else:  # the server begins
    app = App(__file__, **RIM)
