#!/bin/bash
# What was run on each GPU: whole suites, then the TLBs alone with other seeds, then sharing. runs.sh SEED SUITES TLBS SHARING
for i in $(seq 1 "$2"); do
  sonde run --seed $(($1 + i)) --force --output "s$i.h5"
  sonde export --format csv-long "s$i.h5" > "s$i.csv"
done
for i in $(seq 1 "$3"); do
  sonde run --seed $(($1 + 100 + i)) --jobs clock,cache.l2,tlb --force --output "t$i.h5"
  sonde export --format csv-long "t$i.h5" > "t$i.csv"
done
# Which SMs share constants and code.
for i in $(seq 1 "$4"); do
  sonde run --seed $(($1 + 200 + i)) --force --output "k$i.h5" \
    --jobs clock,topology,cache.l2,cache.constant_l1,cache.constant_l2,cache.constant_l3,cache.instruction,sharing
  sonde export --format csv-long "k$i.h5" > "k$i.csv"
done
grep -E ',sharing.(constant|instruction)' ./*.csv | cut -d, -f1,7,9,11,12
grep -E ',(tlb.l[12].(sets|ways|entries)|cache.l2.size_bytes),' ./*.csv | cut -d, -f1,7,9,11
