"""What comes after: answers from many drawn tables, meaningful cells put back."""
