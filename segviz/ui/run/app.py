"""Runs the app. Streamlit takes a folder ``pages`` beside the script it runs for pages of its
own, which is why this one has a folder for itself."""

from streamlit import App

from segviz.ui.security import RIM

if __name__ == "__main__":  # Streamlit draws the page
    from segviz.ui.main import main

    main()
else:  # the server begins
    app = App(__file__, **RIM)
