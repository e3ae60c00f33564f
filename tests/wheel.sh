#!/bin/sh
# The installed command alone, without extras: it must evaluate two small files and print the right mean, and put a
# gate into an empty folder with the three commands of the docs.
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
"$leadline" simulate --quiet --folder world --queries 60 --skill A=4.0 --skill B=4.0 > /dev/null
"$leadline" init world/A.run world/B.run --qrels world/complete.qrels -m nDCG@10 --margin 0.2
"$leadline" baseline world/A.run
"$leadline" gate world/B.run --write gate.html --write gate.xml --write gate.md --write gate.json | grep '^pass: '
grep -q 'id="queries"' gate.html
grep -q 'tests="1" failures="0"' gate.xml
# So did the prompt of the model judge, which needs no model to be looked at.
printf '{"query_id": "q1", "doc_id": "d1", "query": "reset"}\n' > pairs.jsonl
printf '{"id": "d1", "text": "Press the button."}\n' > docs.jsonl
"$leadline" autojudge pairs.jsonl --documents docs.jsonl --show-prompt | grep -q '^prompt relevance 1, hash'
echo "the wheel works alone"
