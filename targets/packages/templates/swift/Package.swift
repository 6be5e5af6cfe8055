// swift-tools-version:5.9
// @SUMMARY@
import PackageDescription

let package = Package(
  name: "@NAME@",
  products: [.library(name: "bantam", targets: ["bantam"])],
  targets: [
    .target(
      name: "bantam",
      path: "Sources/bantam",
      exclude: [],
      publicHeadersPath: "include",
      cxxSettings: [
        .headerSearchPath("runtime"),
        .headerSearchPath("generated"),
        .define("BANTAM_ONLY_REFERENCE"),
        .define("NDEBUG", .when(configuration: .release)),
      ]
    )
  ],
  cxxLanguageStandard: .cxx17
)
