"""What the user knows of a table: labels, reason codes and rules, and what they come to."""
