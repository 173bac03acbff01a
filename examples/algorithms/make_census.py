"""Writes a table like the census income data set: CSV without a header row, the target first.

    python3 make_census.py census.csv --rows=5000

Columns: income (<=50K or >50K), age, work class, education, years of education, marital status, occupation, hours
a week, capital gain (often 0), region and a row number. Some values are blank. The rows are drawn by chance and
describe nobody; the same arguments give the same rows. `--target=hours` puts the hours a week first, for regression.
Needs Python only.
"""

import argparse
import csv
import math
import random

WORK = {"Private": 14, "Self-employed": 3, "Government": 4, "Without pay": 1}
EDUCATION = {"Some school": 9, "High school": 12, "College": 14, "Bachelors": 16, "Masters": 18, "Doctorate": 21}
MARITAL = {"Married": 9, "Never married": 7, "Divorced": 4}
OCCUPATION = {"Clerical": -0.2, "Craft": 0.0, "Sales": 0.3, "Service": -0.8, "Professional": 0.7, "Executive": 1.1}
REGIONS = [f"Region {number}" for number in range(1, 13)]
BLANKS = 0.02  # of the values of work class and occupation


def chosen(weights: dict[str, int], dice: random.Random) -> str:
    return dice.choices(list(weights), list(weights.values()))[0]


def person(number: int, dice: random.Random) -> dict[str, object]:
    """One row by column. What the target depends on: age, education, marriage, occupation, hours and gain."""
    age = min(90, 17 + int(dice.gammavariate(2.2, 10)))
    education = dice.choices(list(EDUCATION), [4, 9, 8, 6, 2, 1])[0]
    marital = chosen(MARITAL, dice) if age > 22 else "Never married"
    occupation = dice.choice(list(OCCUPATION))
    hours = max(5, min(80, round(dice.gauss(38 + 3 * OCCUPATION[occupation] + 2 * (marital == "Married"), 8))))
    gain = round(dice.expovariate(1 / 8000)) if dice.random() < 0.08 else 0
    score = -4.2 + 0.35 * (EDUCATION[education] - 12) + 1.6 * (marital == "Married") + OCCUPATION[occupation] \
        + 0.04 * (hours - 40) - 0.002 * (age - 50) ** 2 + 1.5 + 0.0004 * gain
    rich = dice.random() < 1 / (1 + math.exp(-1.4 * score))
    return {"income": ">50K" if rich else "<=50K", "age": f"{age}.0", "work": blank(chosen(WORK, dice), dice), "education": education,
            "years": f"{EDUCATION[education]}.0", "marital": marital, "occupation": blank(occupation, dice), "hours": f"{hours}.0",
            "gain": f"{gain}.0", "region": dice.choice(REGIONS), "number": number}


def blank(value: str, dice: random.Random) -> str:
    return "" if dice.random() < BLANKS else value


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--target", choices=("income", "hours"), default="income")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    dice = random.Random(args.seed)
    with open(args.file, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for number in range(1, args.rows + 1):
            row = person(number, dice)
            writer.writerow([row.pop(args.target), *row.values()])


if __name__ == "__main__":
    main()
