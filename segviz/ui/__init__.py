"""Layer 4, the rim: the Streamlit app. Nothing below this folder knows Streamlit."""
