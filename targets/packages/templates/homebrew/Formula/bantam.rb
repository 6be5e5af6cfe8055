class Bantam < Formula
  desc "Runs small quantized transformers from text to answer"
  homepage "@URL@"
  url "@URL@/@ARCHIVE@"
  sha256 "@SHA256@"
  license "@LICENSE@"

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "flatbuffers" => :build
  depends_on "nlohmann-json" => :build
  depends_on "protozero" => :build
  depends_on "fmt"
  depends_on :linux

  def install
    system "cmake", "-S", ".", "-B", "build", "-DBANTAM_TESTS=OFF", "-DBANTAM_XNNPACK=OFF",
           "-DBANTAM_TRAIN=OFF", "-DBANTAM_IMAGES=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/bantam version")
    (testpath/"none.bantam").write "nothing"
    assert_match "none.bantam", shell_output("#{bin}/bantam verify none.bantam 2>&1", 4)
  end
end
