"""Programs that other people wrote, as clients of the doors: the test is that they notice nothing."""
