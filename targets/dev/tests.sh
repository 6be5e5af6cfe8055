# `./dev test [quick|all|aarch64|armv7|riscv64|windows|macos]`: which folders are built and whose tests run. The presets in
# CMakePresets.json say what each folder is and which tests are quick. Sourced by ./dev, whose functions and settings it uses.
# shellcheck shell=bash disable=SC2154

# find_ruff: sets `ruff` to the formatter of Python sources, or to nothing where it cannot be installed.
find_ruff() {
  need_python tests/requirements.txt && ruff=$PWD/$venv/bin/ruff || ruff=
}

# run_ctest OPTIONS...: the last thing that a test command prints is ctest's own summary; the slowest tests go to the log.
run_ctest() {
  local status=0
  echo
  BANTAM_RUFF=$ruff in_group ctest -j "$jobs" --output-on-failure --no-tests=error --timeout 900 \
    --output-junit "$PWD/build/tests.xml" "$@" || status=$?
  python3 -B tests/slowest.py build/tests.xml >>"$log" 2>&1 || true
  return $status
}

# configure_emulated PRESET [OPTION...]: a build for ARM, RISC-V or Windows, with its libraries; debian.txt has their groups.
configure_emulated() {
  local preset=$1 architecture
  case $preset in
    aarch64) architecture=arm64 ;;
    armv7) architecture=armhf ;;
    riscv64) architecture=riscv64 ;;
    windows) architecture=windows ;;
  esac
  step "Libraries of Debian $architecture" targets/packages/sysroot.sh $architecture "build-$preset/sysroot"
  configure "$@"
}

build_emulated() {
  configure_emulated "$1" -DBANTAM_TESTS=ON
  build "$1"
}

# has_windows: whether this machine can build for Windows and run that by Wine; says what is missing.
has_windows() {
  local missing
  missing=$(missing_packages windows | tr '\n' ' ')
  [ -n "$missing" ] || return 0
  echo "Windows left out: not installed: $missing(./dev test windows installs them)"
  return 1
}

# test_windows: what runs by Wine. 77: nothing ran.
test_windows() {
  if $no_install && ! has_windows; then exit 77; fi
  need_packages build test windows
  ruff=
  build_emulated windows
  run_ctest --test-dir build-windows
}

# build_macos: the library and the examples for both machines, which nothing here can run, and what their headers say. Returns 77
# where there is no ziglang and none may be installed.
build_macos() {
  local machine folder=$PWD/build/ziglang zig
  venv=$folder need_python targets/macos/requirements.txt || {
    echo "macOS left out: the Python package ziglang is not installed (./dev test macos installs it)"
    return 77
  }
  zig=$(echo "$folder"/lib/python3*/site-packages/ziglang/zig)
  for machine in arm64 x86_64; do
    configure macos-$machine -DBANTAM_ZIG="$zig"
    build macos-$machine
    step "What is for macOS on $machine" python3 -B tests/package/macos.py build-macos-$machine $machine
  done
}

# test_plain_processor PRESET: the tests of kernels and library where there is neither sdot (Cortex-A53) nor fused
# multiply-add (Cortex-A9).
test_plain_processor() {
  local processor=cortex-a9
  [ "$1" != aarch64 ] || processor=cortex-a53
  echo
  echo "$1 on $processor"
  QEMU_CPU=$processor run_ctest --test-dir "build-$1" -L 'kernels|unit'
}

# test_emulated PRESET: every test on an emulated machine.
test_emulated() {
  local group=arm
  [ "$1" != riscv64 ] || group=riscv
  need_packages build test $group
  ruff=
  build_emulated "$1"
  if [ "$1" = riscv64 ]; then
    run_ctest --test-dir build-riscv64 # every board that runs Linux has RV64GC, and the kernels ask for no more
    return
  fi
  QEMU_CPU=max run_ctest --test-dir "build-$1"
  test_plain_processor "$1"
}

test_quick() {
  need_packages build test
  ruff=
  configure release -DBANTAM_FIRMWARE_TARGETS=cortex-m4
  build release
  if [ $# -eq 0 ]; then run_ctest --preset quick; else run_ctest --test-dir build "$@"; fi
}

# test_folders FOLDER...: one list of all folders' tests, so that one summary counts them.
test_folders() {
  local list=build/tests.ctest
  mkdir -p $list
  printf 'subdirs("%s")\n' "${@/#/$PWD/}" >$list/CTestTestfile.cmake
  run_ctest --test-dir $list
}

test_before_commit() {
  need_packages build test firmware
  find_ruff
  configure release -DBANTAM_FIRMWARE_TARGETS=cortex-m4
  build release
  configure fuzz
  build fuzz
  test_folders build build-fuzz
}

# newest_libraries: an environment for each list of original libraries in build/newest, and build/newest/releases.txt, which says
# what they hold. Sets `pythons` to the options that name them to CMake.
newest_libraries() {
  local list name folder releases=()
  pythons=()
  for list in tests/conformance/requirements{,-gliner,-litert,-old}.txt; do
    name=$(basename "$list" .txt)
    name=${name#requirements}
    folder=$PWD/build/newest/${name:+${name#-}}
    [ -n "$name" ] || folder=${folder}libraries
    if need_newest "$list" "$folder"; then
      name=${name//-/_}
      pythons+=("-DBANTAM_PYTHON${name^^}=$folder/bin/python3")
    fi
    releases+=("$list=$folder/bin/python3")
  done
  python3 -B tests/conformance/releases.py "${releases[@]}" >build/newest/releases.txt
}

test_all() {
  local preset status=0 pythons folders=(build build-fuzz)
  need_packages build test firmware train browser arm riscv package wasm
  find_ruff
  newest_libraries
  [[ ${pythons[*]} == *BANTAM_PYTHON=* ]] || die "test all needs an environment of tests/conformance/requirements.txt"
  venv=build/python-libraries need_python tests/python/requirements.txt || die "test all needs the packages of tests/python/requirements.txt"
  venv=build/package-tools need_python tests/package/requirements.txt || die "test all needs the packages of tests/package/requirements.txt"
  # Optional: an emulator of RP2040 for tests/firmware/test_rp2040.py, and hosts for tests/wasm/hosts.mjs.
  if ! $no_install && command -v npm >/dev/null; then
    npm install --silent --no-audit --no-fund --prefix build-firmware/npm rp2040js@1.4.1 >>"$log" 2>&1 || echo "rp2040js: not installed"
    npm install --silent --no-audit --no-fund --prefix build-wasm/npm bun@1.4.5 deno@2.9.6 workerd@1.20261117.1 >>"$log" 2>&1 ||
      echo "Bun, Deno, workerd: not installed"
  fi
  export BANTAM_EXHAUSTIVE=1 # tests/exhaustive.h
  export BANTAM_TIDY=all     # tests/style/tidy.sh
  configure release "${pythons[@]}" \
    -DBANTAM_PYTHON_LIBRARIES="$PWD/build/python-libraries/bin/python3" \
    -DBANTAM_PYTHON_PACKAGES="$PWD/build/package-tools/bin/python3" -DBANTAM_FIRMWARE_TARGETS="$firmware_targets"
  build release
  configure fuzz -DBANTAM_FUZZ_SECONDS=60
  build fuzz
  for preset in tsan asan-gcc plain shared; do
    configure $preset
    build $preset
    folders+=("build-$preset")
  done
  configure unity # has no tests
  build unity
  step "Reproducible builds" python3 -B tests/package/reproducible.py --work build/reproducible
  for preset in aarch64 armv7 riscv64; do
    build_emulated $preset
    folders+=("build-$preset")
  done
  if has_windows; then
    build_emulated windows
    folders+=(build-windows)
  fi
  build_macos || [ $? -eq 77 ]
  step "Firmware budgets" python3 -B tests/firmware/size_report.py --command build/bantam --work build-firmware \
    --out build/size.md --targets "$firmware_targets"
  for preset in aarch64 armv7; do test_plain_processor $preset; done
  test_folders "${folders[@]}" || status=$?
  echo
  cat build/newest/releases.txt
  return $status
}

command_test() {
  local extent=${1:-}
  shift || true
  case $extent in
    quick)
      test_quick "$@"
      return
      ;;
    "" | all | aarch64 | armv7 | riscv64 | windows | macos) [ $# -eq 0 ] || die "test $extent takes no arguments: $*" 2 ;;
    *) die "unknown kind of test \"$extent\": use quick, all, aarch64, armv7, riscv64, windows, macos or none" 2 ;;
  esac
  case $extent in
    "") test_before_commit ;;
    all) test_all ;;
    aarch64 | armv7 | riscv64) test_emulated "$extent" ;;
    windows) test_windows ;;
    macos)
      need_packages build
      build_macos || exit $?
      ;;
  esac
}
