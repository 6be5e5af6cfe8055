# `./dev bench [--peers]`. Sourced by ./dev, whose functions it uses.
# shellcheck shell=bash disable=SC2154

command_bench() {
  local peers=false results=build/bench shared=${BANTAM_SHARED:-../shared}
  case ${1:-} in
    "") ;;
    --peers) peers=true ;;
    *) die "unknown option of bench: $1" 2 ;;
  esac
  need_packages build bench
  configure release -DBANTAM_TESTS=ON -DBANTAM_BENCHMARKS=ON
  local suite suites=(kernels operators models tokenizer text)
  build release bantam_command "${suites[@]/%/_bench}" open_bench memory_probe
  mkdir -p $results
  step "Models to measure" python3 tests/bench/models.py build/bantam $results/models "$shared"
  for suite in "${suites[@]}"; do
    echo
    echo "\$ build/tests/bench/${suite}_bench"
    in_group "build/tests/bench/${suite}_bench" --benchmark_counters_tabular=true --benchmark_out_format=json \
      --benchmark_out="$results/${suite}_bench.json" || die "${suite}_bench failed"
  done
  echo
  in_group build/tests/bench/open_bench $results/models/*.bantam || die "open_bench failed"
  echo
  in_group build/tests/bench/memory_probe $results/models/minilm-int8.bantam 128 || die "memory_probe failed"
  echo
  in_group python3 tests/bench/commands.py build/bantam $results/models $results/commands.json
  ! $peers || bench_peers $results "$shared"
  echo
  python3 tests/bench/report.py $results docs/benchmarks
}

# bench_peers RESULTS SHARED: the same encoder by ONNX Runtime, OpenVINO, CTranslate2 and bantam, interleaved.
bench_peers() {
  local list=tests/bench/requirements-peers.txt package
  need_python $list || $no_install || while read -r package; do
    in_group "$venv/bin/pip" install --quiet --disable-pip-version-check "$package" >>"$log" 2>&1 ||
      echo "left out: $package cannot be installed, see $log"
  done < <(grep -v '^#' $list)
  [ -x "$venv/bin/python3" ] || die "the peers need the packages of $list"
  rm -f "$1"/peers{,-bert-base,-texts}.json
  echo
  in_group "$venv/bin/python3" tests/bench/peers.py --command build/bantam --models "$1/models" --peers "$1/peers" \
    --given "$2/models/peers" --out "$1/peers.json"
  step "BERT-base's shape to measure" python3 tests/bench/models.py build/bantam "$1/models" --base
  in_group "$venv/bin/python3" tests/bench/peers.py --command build/bantam --models "$1/models" --peers "$1/peers" \
    --name bert-base --types int8,static,int4 --threads 1 --seq 1,16,64,128 --batches "" --no-loading --rounds 3 \
    --out "$1/peers-bert-base.json"
  in_group "$venv/bin/python3" tests/bench/peers_texts.py --command build/bantam --models "$1/models" --peers "$1/peers" \
    --given "$2/models/peers" --shared "$2" --out "$1/peers-texts.json"
}
