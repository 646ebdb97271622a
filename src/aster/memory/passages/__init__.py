"""Long texts in passages, found again by their words and by their meaning."""
