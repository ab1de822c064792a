"""The five pages, a package each; pages never import each other."""
