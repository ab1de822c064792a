"""The five pages, a package each; pages do not import each other."""
