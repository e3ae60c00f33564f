#!/bin/sh
# The installed command alone, without extras: it must evaluate two small files and print the right mean.
set -eu
leadline=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf 'q1 0 d1 1\nq1 0 d2 0\nq2 0 d7 2\n' > qrels.txt
printf 'q1 Q0 d2 1 9 bm25\nq1 Q0 d1 2 8 bm25\nq2 Q0 d7 1 3 bm25\n' > bm25.run
"$leadline" --version
"$leadline" evaluate bm25.run --qrels qrels.txt -m RR --format csv | tee out.csv
# RR: (1/2 + 1)/2 = 0.75
grep -q '0\.75' out.csv
# The questions and the judgments came along.
"$(dirname "$leadline")/python" -c 'from leadline.demo.files import questions; assert len(questions()) == 60'
"$leadline" demo 2>&1 | grep -q 'pip install "leadline\[demo\]"'
echo "the wheel works alone"
