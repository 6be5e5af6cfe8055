# `./dev wasm`: the WebAssembly modules, the npm package and the demo page. Sourced by ./dev, whose functions it uses.
# shellcheck shell=bash disable=SC2154

command_wasm() {
  local preset file
  [ $# -eq 0 ] || die "wasm takes no arguments: $*" 2
  need_packages build wasm
  build_command release -DBANTAM_TESTS=OFF
  for preset in wasm wasm-relaxed wasm-relaxed-dot; do
    configure $preset
    build $preset
  done
  step "npm package" targets/wasm/package.sh build/npm
  step "Demo page" targets/wasm/demo.sh build/bantam build/npm build/web
  echo
  for file in build/npm/*.wasm; do
    printf '%-22s %7d bytes, %6d with gzip\n' "$(basename "$file")" "$(wc -c <"$file")" "$(gzip -9c "$file" | wc -c)"
  done
  cat <<'END'

The package is build/npm (npm install ./build/npm, or npm pack). The demo page:
  python3 -m http.server --bind 127.0.0.1 --directory build/web 8080
and http://127.0.0.1:8080/ in a browser. Reference: docs/web.md
END
}
