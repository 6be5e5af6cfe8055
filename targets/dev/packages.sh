# `./dev packages`: what package managers want of bantam, in build/packages. Sourced by ./dev, whose functions it uses.
# shellcheck shell=bash disable=SC2154

command_packages() {
  need_packages build package
  [ -e build/build.ninja ] || configure release -DBANTAM_TESTS=OFF
  build release
  rm -rf build/packages
  python3 -B targets/packages/generate.py --out build/packages "$@"
  local generator
  for generator in DEB RPM; do
    step "cpack -G $generator" cpack --config build/CPackConfig.cmake -G $generator -B build/packages/$generator
  done
  rm -rf build/packages/*/_CPack_Packages
  ls build/packages/DEB/*.deb build/packages/RPM/*.rpm
}
