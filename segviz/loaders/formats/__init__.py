"""One module per file format; ``registry.LOADERS`` lists them."""
