"""After imputation: pool estimates, and put meaningful cells back into completed tables."""
