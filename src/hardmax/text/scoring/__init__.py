"""Every row of a table: read, scored and written in parts, so that an interruption costs one of them."""
