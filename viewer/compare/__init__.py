"""Sets runs beside each other: what differs, what if, and what helps."""
