"""Script of the app.

It has its own folder, because Streamlit treats a folder ``pages`` next to its script as pages.
"""

from streamlit import App

from segviz.ui.security import RIM

if __name__ == "__main__":  # Streamlit runs the page
    from segviz.ui.main import main

    main()
else:  # the server imports it
    app = App(__file__, **RIM)
