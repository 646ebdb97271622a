"""Where tools run: isolation, the file system they may see, and what needs a person's word first."""
