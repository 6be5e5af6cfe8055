# `./dev release`: every file of a release in build/release, with checksums and an SBOM, each checked by its ecosystem's own
# tools. Sourced by ./dev, whose functions and settings it uses.
# shellcheck shell=bash disable=SC2154

release=build/release

command_release() {
  [ $# -le 1 ] || die "release takes one option: $*" 2
  case ${1:-} in
    "") make_release ;;
    --check) [ -e $release/SHA256SUMS ] || die "release --check: $release has no files; run ./dev release" ;;
    *) die "unknown option of release: $1" 2 ;;
  esac
  check_release
}

make_release() {
  local machine file
  [ -z "$(git status --porcelain)" ] || echo "dev: the work tree differs from its commit" >&2
  need_packages build package wheel arm riscv wasm
  rm -rf $release
  command_packages
  for machine in x86_64 aarch64 armv7 riscv64; do package_linux $machine; done
  command_wheel
  for machine in aarch64 armv7; do command_wheel $machine; done
  command_wasm
  package_firmware

  mkdir -p $release
  cp build/packages/source/*.tar.gz build/packages/*.tar.gz build/packages/linux/*.tar.gz $release
  cp build/packages/DEB/*.deb build/packages/RPM/*.rpm build/wheel/*.whl $release
  cp build/packages/firmware/*.{zip,pack,tar.gz} $release
  if command -v npm >/dev/null; then
    step "npm pack" npm pack --silent --pack-destination $release ./build/npm
  else
    echo "npm is not installed: $release has no npm package"
  fi
  cp build-dist/bantam.spdx.json "$release/bantam-$(release_version).spdx.json"
  for machine in aarch64 armv7 riscv64; do
    cp build-$machine/bantam.spdx.json "$release/bantam-$(release_version)-linux-$machine.spdx.json"
  done
  (cd $release && sha256sum -- * >SHA256SUMS)
  ls -l $release
}

release_version() {
  sed -n 's/^project(bantam VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt
}

# Libraries for microcontrollers, as files that their tools install; the model in them is the smaller one of this tree.
package_firmware() {
  local folder=build/packages/formats format made=()
  rm -rf $folder
  mkdir -p $folder
  step "Model for firmware" build-dist/bantam convert models/voice-commands-tiny -o $folder/voice-commands-tiny.bantam
  for format in arduino esp-idf cmsis-pack; do
    step "Library for $format" build-dist/bantam firmware $folder/voice-commands-tiny.bantam --core any --format $format --max-tokens 32 \
      -o $folder/$format
    made+=(--firmware "$format=$folder/$format")
  done
  python3 -B targets/packages/generate.py firmware --out build/packages "${made[@]}"
}

# check_by TOOL TITLE COMMAND...: a tool that is not there is named at the end.
check_by() {
  local tool=$1
  shift
  if command -v "$tool" >/dev/null; then step "$@"; else not_run+=("$1: $tool"); fi
}

check_release() {
  local not_run=() work=build/release-check machine emulator file version PATH=$PATH
  version=$(release_version)
  need_packages package
  need_python tests/package/requirements.txt || true
  PATH=$PWD/$venv/bin:$PWD/build/release-tools/node_modules/.bin:$PATH
  if ! $no_install && command -v npm >/dev/null; then
    npm install --silent --no-audit --no-fund --prefix build/release-tools publint@0.3.25 >>"$log" 2>&1 || true
  fi
  rm -rf $work
  mkdir -p $work

  step "SHA256SUMS" sh -c "cd $release && sha256sum --check --quiet SHA256SUMS"
  step "Source archive: unpacked" tar -xzf "$release/bantam-$version.tar.gz" -C $work
  check_by cmake "Source archive: configured" cmake -S "$work/bantam-$version" -B $work/source -G Ninja
  for file in "$release"/*.spdx.json; do check_by pyspdxtools "SBOM: $(basename "$file")" pyspdxtools -i "$file"; done

  for machine in x86_64 aarch64 armv7 riscv64; do
    emulator=qemu-${machine/v7/}-static
    [ "$machine" != "$(uname -m)" ] || emulator="env"
    step "Command for $machine: unpacked" tar -xzf "$release/bantam-$version-linux-$machine.tar.gz" -C $work
    check_by "$emulator" "Command for $machine: --version" "$emulator" "$work/bantam-$version-linux-$machine/bantam" --version
  done

  check_by lintian ".deb: lintian" lintian --allow-root --suppress-tags-from-file targets/packages/lintian.tags \
    --fail-on error,warning "$release"/*.deb
  for file in "$release"/*.rpm; do check_by rpm ".rpm: $(basename "$file"), digests" rpm --checksig --nosignature "$file"; done
  check_by rpmlint ".rpm: rpmlint" rpmlint --config targets/packages/rpmlint.toml --strict "$release"/*.rpm

  check_by twine "Wheels: twine" twine check --strict "$release"/*.whl
  check_by abi3audit "Wheels: abi3audit" abi3audit --strict --assume-minimum-abi3 3.9 "$release"/bantam-*.whl
  for file in "$release"/*.whl; do
    check_by auditwheel "Wheel: auditwheel, $(basename "$file" | sed 's/.*none-//')" check_tag "$file"
  done

  if [ -e "$release/bantam-$version.tgz" ]; then
    check_by npm "npm package: npm pack --dry-run" npm pack --dry-run "./$release/bantam-$version.tgz"
    check_by publint "npm package: publint" publint run --strict "$release/bantam-$version.tgz"
  else
    not_run+=("npm package: npm")
  fi

  step "Conan recipe: unpacked" tar -xzf "$release/bantam-$version-conan.tar.gz" -C $work
  check_by conan "Conan recipe: conan create" create_by_conan "$work/bantam-$version-conan" "$PWD/$work/conan"

  mkdir -p $work/esp-idf $work/arduino
  step "ESP-IDF component: unpacked" tar -xzf "$release/bantam-$version-esp-idf.tar.gz" -C $work/esp-idf
  check_by compote "ESP-IDF component: compote" compote component pack --name bantam --project-dir $work/esp-idf/bantam
  step "Arduino library: unpacked" python3 -m zipfile -e "$release/bantam-$version-arduino.zip" $work/arduino
  check_by arduino-lint "Arduino library: arduino-lint" arduino-lint --library-manager false $work/arduino/bantam
  check_by cpackget "CMSIS pack: cpackget" cpackget add "$release/bantam.bantam.$version.pack" --agree-embedded-license \
    --pack-root $work/cmsis

  echo
  if [ ${#not_run[@]} -gt 0 ]; then
    echo "Not run, for want of the tool:"
    printf '  %s\n' "${not_run[@]}"
  fi
}

# The tag of a wheel's name is the one that its programs need.
check_tag() {
  local tag
  tag=$(basename "$1" .whl)
  auditwheel show "$1" | tee /dev/stderr | tr '\n' ' ' | grep -q "consistent with the following platform tag: \"${tag##*-}\""
}

# Without a network: FlatBuffers of the system.
create_by_conan() {
  export CONAN_HOME=$2
  conan profile detect --force && conan create "$1" -nr -c "tools.build:jobs=$jobs" -o "bantam/*:system_flatbuffers=True"
}
