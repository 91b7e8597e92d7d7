"""Clinical data: measurements that were never ordered, and measurements that got lost.

The table is a drawn stand-in for emergency stays. Which columns can be meaningful is not told: they
are found, with the evidence, and the doubtful cells are listed for someone who knows the patients.

    python examples/clinical_labs.py
"""

from typing import Any

import pandas as pd

from diffjoint import SelectiveImputer, inspect
from diffjoint.simulate import make_world


def main(n_rows: int = 1_500, **settings: Any) -> pd.DataFrame:
    """Look, complete, and list what a person should see."""
    world = make_world("mimic-like-stand-in", rows=n_rows, loss_rate=0.15, seed=0)
    stays = world.observed_table
    found = inspect(stays)
    print("Found to be meaningful at times:", *found.mm_columns)
    print("Meaningful in truth:            ", *world.mm_columns)
    imputer = SelectiveImputer(world.mm_columns, random_state=0, **settings).fit(stays)
    result = imputer.impute(stays)
    counts = pd.DataFrame(
        {
            "empty": stays.isna().sum(),
            "kept": result.meaningful.sum(),
            "filled": (stays.isna() & ~result.meaningful).sum(),
            "to review": result.review.sum(),
        }
    )
    print(counts.loc[world.mm_columns].to_string())
    doubtful = imputer.review(stays).head(3)
    print("\nThe most doubtful cells:")
    for reason in doubtful["reason"]:
        print("-", reason)
    return counts


if __name__ == "__main__":
    main()
