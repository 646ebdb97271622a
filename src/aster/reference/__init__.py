"""The reference pages, written from the code they describe; a check fails when a page no longer says what is so."""
