"""Assembly: charts and graphs as plain objects, without Streamlit."""
