"""What every room stands on: settings, ids, time, logging, shutdown."""
