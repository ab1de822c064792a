"""Runs the app. Streamlit takes a folder ``pages`` beside the script it runs for pages of its
own, which is why this one has a folder for itself."""

from segviz.ui.main import main

if __name__ == "__main__":
    main()
