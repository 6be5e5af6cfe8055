# `./dev bench [--peers] [--against COMMAND]`. Sourced by ./dev, whose functions it uses.
# shellcheck shell=bash disable=SC2154

command_bench() {
  local peers=false against='' results=build/bench shared=${BANTAM_SHARED:-../shared}
  while [ $# -gt 0 ]; do
    case $1 in
      --peers) peers=true ;;
      --against)
        [ $# -gt 1 ] || die "--against takes a command of bantam, such as ./dev older COMMIT prints" 2
        against=$2
        shift
        ;;
      *) die "unknown option of bench: $1" 2 ;;
    esac
    shift
  done
  if [ -n "$against" ]; then
    bench_against $results "$shared" "$against"
    $peers || return 0
  fi
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

# bench_against RESULTS SHARED COMMAND: times over those of another command, interleaved, with files that it converts: an
# older command does not read what a newer one writes.
bench_against() {
  local models=$1/models-against form
  [ -x "$3" ] || die "\"$3\" is no command of bantam; ./dev older COMMIT builds one and prints where it is" 2
  build_command release -DBANTAM_TESTS=OFF
  rm -rf "$models"
  step "Models by $3" python3 tests/bench/models.py "$3" "$models" "$2"
  for form in int8 static int4 sparse static-sparse; do
    printf '\n%s, over %s\n' $form "$3"
    in_group python3 tests/bench/compare.py build/bantam "$models/minilm-$form.bantam" --against "$3" \
      --seq 8,16,32,64,128,256
  done
}

# bench_peers RESULTS SHARED: the same encoder by ONNX Runtime, OpenVINO, CTranslate2 and bantam, and a decoder by
# llama.cpp and bantam, interleaved.
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
  $no_install || in_group npm install --silent --prefix "$1/node" node-llama-cpp@3.22.1 >>"$log" 2>&1 ||
    echo "left out: llama.cpp (node-llama-cpp cannot be installed by npm, see $log)"
  in_group "$venv/bin/python3" tests/bench/peers_decoders.py --command build/bantam --folder "$1/decoders" \
    --node "$1/node" --shapes Llama-110M --out "$1/peers-decoders.json"
}
