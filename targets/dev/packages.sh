# `./dev packages`: what package managers want of bantam, in build/packages; `./dev wheel`: what pip wants. Sourced by ./dev, whose
# functions it uses.
# shellcheck shell=bash disable=SC2154

command_packages() {
  case ${1:-} in
    x86_64 | aarch64 | armv7 | riscv64)
      [ $# -eq 1 ] || die "packages takes one machine: $*" 2
      package_linux "$1"
      return
      ;;
    windows | macos)
      [ $# -eq 1 ] || die "packages takes one system: $*" 2
      package_"$1"
      return
      ;;
  esac
  need_packages build package
  configure dist
  build dist
  rm -rf build/packages
  python3 -B targets/packages/generate.py --out build/packages "$@"
  local generator
  for generator in DEB RPM; do
    step "cpack -G $generator" cpack --config build-dist/CPackConfig.cmake -G $generator -B build/packages/$generator
  done
  rm -rf build/packages/*/_CPack_Packages
  ls build/packages/DEB/*.deb build/packages/RPM/*.rpm
  if has_windows; then package_windows; fi
  package_macos
}

# package_windows: the library for 64-bit Windows.
package_windows() {
  need_packages build windows
  configure_emulated windows -DBANTAM_TESTS=OFF
  build windows
  python3 -B targets/packages/generate.py windows --out build/packages --windows build-windows
  ls -l build/packages/windows/*.zip
}

# package_macos: the library for macOS, where ziglang is to be had.
package_macos() {
  local machine pairs=()
  need_packages build
  build_macos || { [ $? -eq 77 ] && return 0; }
  for machine in arm64 x86_64; do pairs+=(--macos "$machine=build-macos-$machine"); done
  python3 -B targets/packages/generate.py macos --out build/packages "${pairs[@]}"
  ls -l build/packages/macos/*.tar.gz
}

# package_linux MACHINE: the command for that machine's Linux, without any library.
package_linux() {
  local preset=$1 folder=build-$1 group=arm
  case $1 in
    x86_64)
      [ "$(uname -m)" = x86_64 ] || die "packages x86_64: this machine is $(uname -m), and there is no preset for another"
      preset=dist folder=build-dist
      need_packages build wheel
      configure dist
      ;;
    *)
      [ "$1" != riscv64 ] || group=riscv
      need_packages build $group
      configure_emulated "$1" -DBANTAM_TESTS=OFF -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8
      ;;
  esac
  build "$preset" bantam_static
  python3 -B targets/packages/generate.py linux --out build/packages --linux "$1=$folder/static/bantam"
  ls -l build/packages/linux/*.tar.gz
}

command_wheel() {
  [ $# -le 1 ] || die "wheel takes one machine: $*" 2
  case ${1:-} in
    "") ;;
    aarch64 | armv7)
      need_packages build arm
      configure_emulated "$1" -DBANTAM_TESTS=OFF
      build "$1" bantam_python
      python3 -B targets/python/backend/bantam_build.py --out build/wheel --library "build-$1/python/libbantam.so"
      return
      ;;
    windows)
      need_packages build windows
      configure_emulated windows -DBANTAM_TESTS=OFF
      build windows bantam_python
      python3 -B targets/python/backend/bantam_build.py --out build/wheel --library build-windows/python/bantam.dll
      return
      ;;
    *) die "unknown machine \"$1\": use aarch64, armv7 or windows, or none for this one" 2 ;;
  esac
  need_packages build wheel
  configure dist
  build dist bantam_python bantam_portable bantam_app
  rm -rf build/wheel
  python3 -B targets/python/backend/bantam_build.py --out build/wheel --library build-dist/python/libbantam.so
  python3 -B targets/python/backend/bantam_build.py --out build/wheel --command build-dist/python/bantam
}
