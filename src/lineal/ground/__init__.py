"""What everything stands on: deadlines, records, small files, and values as people hand them in."""
