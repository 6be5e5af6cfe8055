// ONNX: the reader on well-formed and hostile files, axes, and the recognition of masks, indices, rotations and
// positions by their effects.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "import/hugging_face.h"
#include "onnx/axes.h"
#include "onnx/cones.h"
#include "onnx/host_tensor.h"
#include "onnx/model.h"
#include "onnx/onnx_import.h"
#include "onnx/turned.h"
#include "tests/converter/onnx_bytes.h"

namespace bantam::convert::onnx {
namespace {

namespace b = onnx_bytes;
namespace fs = std::filesystem;

/// Returns the message that reading the bytes fails with; "" if they can be read.
std::string refused(const std::string& bytes, ExitCode code = ExitCode::kInvalid) {
  try {
    read_model(bytes, "m.onnx");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "";
}

std::string small_graph() {
  return b::input("x") + b::output("y") + b::node("Add", {"x", "w"}, {"y"}) +
         b::initializer(b::tensor("w", 1, {2}, b::raw(b::floats({1, 2}))));
}

TEST(OnnxReader, ReadsTensorsOfEverySpelling) {
  const std::string packed = b::text(4, b::floats({3, 4}));
  const std::string ids = b::text(7, b::varint(5) + b::varint(static_cast<uint64_t>(int64_t{-1})));
  const std::string bytes = b::model(small_graph() + b::initializer(b::tensor("p", 1, {2}, packed)) +
                                     b::initializer(b::tensor("i", 7, {2}, ids)) +
                                     b::initializer(b::tensor("u", 7, {2}, b::number(7, 8) + b::number(7, 9))) +
                                     b::node("Constant", {}, {"c"}, b::integer_attribute("value_int", 6)));
  const Model model = read_model(bytes, "m.onnx");
  EXPECT_EQ(model.opset, 17);
  ASSERT_EQ(model.graph.nodes.size(), 1u);
  const auto& tensors = model.graph.initializers;
  EXPECT_EQ(load(tensors.at("w"))->floats, (std::vector<double>{1, 2}));
  EXPECT_EQ(load(tensors.at("p"))->floats, (std::vector<double>{3, 4}));
  EXPECT_EQ(load(tensors.at("i"))->ints, (std::vector<int64_t>{5, -1}));
  EXPECT_EQ(load(tensors.at("u"))->ints, (std::vector<int64_t>{8, 9}));
  EXPECT_EQ(load(tensors.at("c"))->ints, (std::vector<int64_t>{6}));
}

TEST(OnnxReader, RefusesEveryPrefix) {
  const std::string whole = b::model(small_graph());
  ASSERT_EQ(refused(whole), "");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(refused(whole.substr(0, size)), "") << size;
  }
}

TEST(OnnxReader, RefusesWhatDoesNotFit) {
  const auto with = [](const std::string& tensor) { return b::model(small_graph() + b::initializer(tensor)); };
  const std::string raw = b::raw(b::floats({1, 2}));
  EXPECT_NE(refused(with(b::tensor("t", 1, {3}, raw))).find("do not make its 8 bytes"), std::string::npos);
  EXPECT_NE(refused(with(b::tensor("t", 1, {-2}, raw))).find("overflows"), std::string::npos);
  EXPECT_NE(refused(with(b::tensor("t", 1, {int64_t{1} << 40, int64_t{1} << 40}, raw))).find("overflows"),
            std::string::npos);
  EXPECT_NE(refused(with(b::tensor("w", 1, {2}, raw))).find("two tensors"), std::string::npos);
  EXPECT_NE(refused(b::model(small_graph(), 6), ExitCode::kUnsupported).find("opset 6"), std::string::npos);
  EXPECT_NE(refused(b::model(small_graph()) + b::text(7, small_graph())).find("two graphs"), std::string::npos);
}

TEST(OnnxReader, RefusesFieldsOfAnotherType) {
  EXPECT_NE(refused(b::model(small_graph()) + b::number(8, 1)), "");
  for (const uint32_t field : {1u, 5u, 11u, 12u}) {
    EXPECT_NE(refused(b::model(small_graph() + b::number(field, 1))), "") << field;
  }
  EXPECT_NE(refused(b::model(small_graph() + b::initializer(b::text(2, "f32")))), "");
}

TEST(OnnxReader, RefusesCycles) {
  const std::string graph = b::input("x") + b::node("Add", {"x", "c"}, {"a"}) + b::node("Neg", {"a"}, {"c"});
  EXPECT_NE(refused(b::model(graph)).find("its own output"), std::string::npos);
  EXPECT_NE(refused(b::model(b::node("Neg", {"z"}, {"c"}))).find("which nothing writes"), std::string::npos);
  EXPECT_NE(
      refused(b::model(b::input("x") + b::node("Neg", {"x"}, {"c"}) + b::node("Neg", {"x"}, {"c"}))).find("twice"),
      std::string::npos);
}

TEST(OnnxReader, PutsNodesBehindWhatTheyRead) {
  const Model model =
      read_model(b::model(b::input("x") + b::node("Neg", {"a"}, {"c"}) + b::node("Neg", {"x"}, {"a"})), "m.onnx");
  ASSERT_EQ(model.graph.nodes.size(), 2u);
  EXPECT_EQ(model.graph.nodes[0].output(0), "a");
}

TEST(OnnxReader, PutsFunctionsAndBranchesInTheirPlaces) {
  // twice(v) = v + v
  const std::string add = b::text(7, b::text(1, "v") + b::text(1, "v") + b::text(2, "w") + b::text(4, "Add"));
  const std::string function =
      b::text(25, b::text(1, "Twice") + b::text(4, "v") + b::text(5, "w") + add + b::text(10, "own"));
  const std::string call = b::node("Twice", {"x"}, {"y"}, b::text(7, "own"));
  const Model called = read_model(b::model(b::input("x") + call, 17, function), "m.onnx");
  ASSERT_EQ(called.graph.nodes.size(), 1u);
  EXPECT_EQ(called.graph.nodes[0].op, "Add");
  EXPECT_EQ(called.graph.nodes[0].input(1), "x");
  EXPECT_EQ(called.graph.nodes[0].output(0), "y");

  const auto branch = [](const char* name, const char* op) {
    const std::string graph = b::node(op, {"x"}, {"inner"}) + b::output("inner");
    return b::text(5, b::text(1, name) + b::text(6, graph));
  };
  const std::string both = branch("then_branch", "Neg") + branch("else_branch", "Abs");
  for (const char truth : {'\0', '\1'}) {
    const std::string condition = b::initializer(b::tensor("c", 9, {}, b::raw(std::string(1, truth))));
    const Model chosen = read_model(b::model(b::input("x") + condition + b::node("If", {"c"}, {"y"}, both)), "m.onnx");
    ASSERT_EQ(chosen.graph.nodes.size(), 1u);
    EXPECT_EQ(chosen.graph.nodes[0].op, truth == 0 ? "Abs" : "Neg");
    EXPECT_EQ(chosen.graph.nodes[0].output(0), "y");
  }
  // If the condition is not constant, both branches are included, with an op that selects one.
  const Model open = read_model(b::model(b::input("x") + b::input("c") + b::node("If", {"c"}, {"y"}, both)), "m.onnx");
  ASSERT_EQ(open.graph.nodes.size(), 3u);
  EXPECT_EQ(open.graph.nodes[2].op, kBranches);
  EXPECT_EQ(open.graph.nodes[2].input(1), open.graph.nodes[0].output(0));
  EXPECT_EQ(open.graph.nodes[2].input(2), open.graph.nodes[1].output(0));
  EXPECT_EQ(open.graph.nodes[0].op + open.graph.nodes[1].op, "NegAbs");
  // A function that calls itself would be endless.
  const std::string self = b::text(7, b::text(1, "v") + b::text(2, "w") + b::text(4, "Twice") + b::text(7, "own"));
  const std::string endless =
      b::text(25, b::text(1, "Twice") + b::text(4, "v") + b::text(5, "w") + self + b::text(10, "own"));
  EXPECT_NE(refused(b::model(b::input("x") + call, 17, endless)).find("deep"), std::string::npos);
}

TEST(OnnxReader, ReadsExternalDataInsideTheDirectoryOnly) {
  const fs::path root = fs::temp_directory_path() / ("bantam-onnx-" + std::to_string(::getpid()));
  fs::create_directories(root / "model");
  std::ofstream(root / "model" / "data", std::ios::binary) << "abcd" << b::floats({5, 6});
  std::ofstream(root / "outside", std::ios::binary) << b::floats({5, 6});
  const auto entry = [](const char* key, const std::string& value) {
    return b::text(13, b::text(1, key) + b::text(2, value));
  };
  const auto write = [&](const std::string& location, const char* offset, const char* length) {
    const std::string tensor =
        b::tensor("w", 1, {2},
                  entry("location", location) + entry("offset", offset) + entry("length", length) + b::number(14, 1));
    std::ofstream(root / "model" / "m.onnx", std::ios::binary)
        << b::model(b::input("x") + b::node("Add", {"x", "w"}, {"y"}) + b::initializer(tensor));
  };
  const auto problem = [&]() -> std::string {
    try {
      read_model(root / "model" / "m.onnx");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  write("data", "4", "8");
  EXPECT_EQ(load(read_model(root / "model" / "m.onnx").graph.initializers.at("w"))->floats,
            (std::vector<double>{5, 6}));
  write("data", "8", "8");
  EXPECT_NE(problem().find("ends beyond"), std::string::npos);
  write("data", "99999999999999999", "8");
  EXPECT_NE(problem().find("ends beyond"), std::string::npos);
  for (const std::string& location : {std::string("../outside"), (root / "outside").string(), std::string()}) {
    write(location, "0", "8");
    EXPECT_NE(problem().find("not inside the directory"), std::string::npos) << location;
  }
  fs::create_symlink(root / "outside", root / "model" / "link");
  write("link", "0", "8");
  EXPECT_NE(problem().find("not inside the directory"), std::string::npos);
  fs::remove_all(root);
}

TEST(OnnxAxes, RegroupsTextsTokensAndHeads) {
  const std::vector<Extents> at = {{2, 5}, {3, 7}};
  const Axes rows = {{kBatchAtom}, {kTokensAtom}, {columns_atom(12)}};
  const auto heads = reshape(rows, at, {{2, 5, 3, 4}, {3, 7, 3, 4}});
  ASSERT_TRUE(heads);
  EXPECT_EQ((*heads)[2], Axis{columns_atom(3, 4)});
  EXPECT_EQ((*heads)[3], Axis{columns_atom(4, 1)});
  const auto back = reshape(*heads, at, {{0, 0, -1}, {0, 0, -1}});
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, rows);
  const auto flat_rows = reshape(rows, at, {{-1, 12}, {-1, 12}});
  ASSERT_TRUE(flat_rows);
  EXPECT_EQ((*flat_rows)[0], (Axis{kBatchAtom, kTokensAtom}));
  // Heads moved before tokens are no longer rows.
  const Axes turned = {(*heads)[0], (*heads)[2], (*heads)[1], (*heads)[3]};
  const auto torn = reshape(turned, at, {{2, 5, 12}, {3, 7, 12}});
  EXPECT_FALSE(torn && flat(*torn) == flat(rows));
  EXPECT_FALSE(reshape(rows, at, {{2, 5, 13}, {3, 7, 13}}));
  EXPECT_FALSE(reshape(rows, at, {{2, 5, 5, -1}, {3, 7, 5, -1}}));
}

TEST(OnnxAxes, PutsABatchOfOneWhereTheFirstAxisOfOneIs) {
  const std::vector<Extents> at = {{1, 8}, {1, 8}};
  const Axes rows = {{kBatchAtom}, {kTokensAtom}, {columns_atom(8)}};
  const auto regrouped = [&](const std::vector<int64_t>& shape) { return *reshape(rows, at, {shape, shape}); };
  EXPECT_EQ(regrouped({1, 8, 2, 4}), (Axes{{kBatchAtom}, {kTokensAtom}, {columns_atom(2, 4)}, {columns_atom(4)}}));
  EXPECT_EQ(regrouped({8, 1, 8}), (Axes{{kTokensAtom}, {kBatchAtom}, {columns_atom(8)}}));
  EXPECT_EQ(regrouped({1, 1, 8, 8}), (Axes{{kBatchAtom}, {}, {kTokensAtom}, {columns_atom(8)}}));
  EXPECT_EQ(regrouped({8, 8}), (Axes{{kBatchAtom, kTokensAtom}, {columns_atom(8)}}));
}

TEST(OnnxAxes, KnowsTokensThatConvolutionsLeaveOut) {
  Axis fewer = {kTokensAtom};
  fewer[0].less = 2;
  const Axes rows = {{kBatchAtom}, fewer, {columns_atom(6)}};
  EXPECT_EQ(dims(rows, {3, 7}), (std::vector<int64_t>{3, 5, 6}));
  EXPECT_TRUE(is_tokens(fewer));
  EXPECT_FALSE(fewer == Axis{kTokensAtom});
  const auto four = reshape(rows, {{2, 5}, {3, 7}}, {{2, 1, 3, 6}, {3, 1, 5, 6}});
  ASSERT_TRUE(four);
  EXPECT_EQ((*four)[2], fewer);
}

/// Returns the biases that add `hidden` to scores for which seen(probe, query, key) is false.
template <typename Seen>
std::vector<HostTensor> added(const std::vector<Probe>& probes, double hidden, const Seen& seen) {
  std::vector<HostTensor> out;
  for (const Probe& probe : probes) {
    const int64_t batch = probe.extents.batch, tokens = probe.extents.tokens;
    HostTensor bias = host_floats({batch, 1, tokens, tokens}, {});
    for (int64_t i = 0; i < batch * tokens * tokens; ++i) {
      const int64_t k = i % tokens, q = i / tokens % tokens, text = i / tokens / tokens;
      const bool there = probe.mask[static_cast<size_t>(text * tokens + k)] != 0;
      bias.floats.push_back(seen(there, q, k) ? 0 : hidden);
    }
    out.push_back(std::move(bias));
  }
  return out;
}

TEST(OnnxCones, KnowsMasksByWhatTheyHide) {
  const std::vector<Probe> probes = make_probes(-1, -1);
  const auto kind = [&](double hidden, const auto& seen) {
    return recognise_mask(probes, added(probes, hidden, seen), 2);
  };
  const double infinite = -std::numeric_limits<double>::infinity();
  for (const double hidden : {infinite, -10000.0, -3.4028234663852886e38}) {
    const auto padding = kind(hidden, [](bool there, int64_t, int64_t) { return there; });
    ASSERT_TRUE(padding);
    EXPECT_EQ(padding->kind, fb::MaskKind::none);
    const auto causal = kind(hidden, [](bool there, int64_t q, int64_t k) { return there && k <= q; });
    ASSERT_TRUE(causal);
    EXPECT_EQ(causal->kind, fb::MaskKind::causal);
    const auto window = kind(hidden, [](bool there, int64_t q, int64_t k) { return there && std::abs(k - q) <= 2; });
    ASSERT_TRUE(window);
    EXPECT_EQ(window->kind, fb::MaskKind::window);
    EXPECT_EQ(window->window, 2u);
  }
  EXPECT_FALSE(kind(infinite, [](bool there, int64_t q, int64_t k) { return there && (k + q) % 2 == 0 && k != 3; }));
  EXPECT_FALSE(kind(-0.5, [](bool there, int64_t, int64_t) { return there; })) << "a bias is not a mask";
  EXPECT_FALSE(kind(infinite, [](bool there, int64_t, int64_t k) { return there && k != 0; }));
}

const std::string kMasked = b::node("Add", {"scores", "mask"}, {"masked"});

/// A file with one attention in which a query sees `window` tokens on each side; `masked`: the nodes that mask.
std::string attention_in_window(int64_t window, const std::string& masked = kMasked) {
  const auto matrix = [](const char* name, int64_t rows) {
    std::vector<float> values;
    for (int64_t i = 0; i < rows * 8; ++i) values.push_back(static_cast<float>((i * 7 + rows) % 11) - 5);
    return b::initializer(b::tensor(name, 1, {rows, 8}, b::raw(b::floats(values))));
  };
  const auto number = [](const char* name, int64_t value, const std::vector<int64_t>& dims) {
    return b::initializer(b::tensor(name, 7, dims, b::raw(b::integers({value}))));
  };
  const std::string constants = matrix("words", 40) + matrix("q", 8) + matrix("k", 8) + matrix("v", 8) +
                                number("0", 0, {}) + number("1", 1, {}) + number("[0]", 0, {1}) +
                                number("[1]", 1, {1}) + number("window", window, {}) +
                                b::initializer(b::tensor("seen", 1, {}, b::raw(b::floats({0})))) +
                                b::initializer(b::tensor("hidden", 1, {}, b::raw(b::floats({-10000}))));
  const std::string order =
      b::text(5, b::text(1, "perm") + b::number(8, 0) + b::number(8, 2) + b::number(8, 1) + b::number(20, 7));
  const std::string mask =
      b::node("Shape", {"input_ids"}, {"shape"}) + b::node("Gather", {"shape", "1"}, {"tokens"}) +
      b::node("Range", {"0", "tokens", "1"}, {"places"}) + b::node("Unsqueeze", {"places", "[0]"}, {"keys"}) +
      b::node("Unsqueeze", {"places", "[1]"}, {"queries"}) + b::node("Sub", {"keys", "queries"}, {"difference"}) +
      b::node("Abs", {"difference"}, {"distance"}) + b::node("LessOrEqual", {"distance", "window"}, {"near"}) +
      b::node("Where", {"near", "seen", "hidden"}, {"mask"});
  const std::string rows =
      b::node("Gather", {"words", "input_ids"}, {"x"}) + b::node("MatMul", {"x", "q"}, {"xq"}) +
      b::node("MatMul", {"x", "k"}, {"xk"}) + b::node("MatMul", {"x", "v"}, {"xv"}) +
      b::node("Transpose", {"xk"}, {"turned"}, order) + b::node("MatMul", {"xq", "turned"}, {"scores"}) + masked +
      b::node("Softmax", {"masked"}, {"p"}) + b::node("MatMul", {"p", "xv"}, {"last_hidden_state"});
  return b::model(b::input("input_ids") + b::output("last_hidden_state") + constants + mask + rows);
}

/// Returns the mask from bias(head, query, key) for two heads, with padding hidden.
template <typename Bias>
std::optional<Mask> biased(const std::vector<Probe>& probes, const Bias& bias) {
  std::vector<HostTensor> out;
  for (const Probe& probe : probes) {
    const int64_t batch = probe.extents.batch, tokens = probe.extents.tokens;
    HostTensor all = host_floats({batch, 2, tokens, tokens}, {});
    for (int64_t i = 0; i < batch * 2 * tokens * tokens; ++i) {
      const int64_t k = i % tokens, q = i / tokens % tokens, head = i / tokens / tokens % 2;
      const int64_t text = i / tokens / tokens / 2;
      const bool there = probe.mask[static_cast<size_t>(text * tokens + k)] != 0;
      all.floats.push_back(bias(head, q, k) + (there ? 0 : -3.4028234663852886e38));
    }
    out.push_back(std::move(all));
  }
  return recognise_mask(probes, out, 2);
}

TEST(OnnxCones, KnowsBiasesByDistance) {
  const std::vector<Probe> probes = make_probes(-1, -1, 12);
  const auto by_distance = [](int64_t head, int64_t distance) {
    return static_cast<double>(head + 1) + 0.25 * static_cast<double>(std::clamp<int64_t>(distance, -3, 2));
  };
  const auto buckets = biased(probes, [&](int64_t h, int64_t q, int64_t k) { return by_distance(h, k - q); });
  ASSERT_TRUE(buckets);
  EXPECT_EQ(buckets->kind, fb::MaskKind::none);
  EXPECT_EQ(buckets->farthest, 3);
  ASSERT_EQ(buckets->biases.size(), 14u);
  for (int64_t i = 0; i < 14; ++i) {
    EXPECT_EQ(buckets->biases[static_cast<size_t>(i)], static_cast<float>(by_distance(i / 7, i % 7 - 3))) << i;
  }
  EXPECT_TRUE(buckets->slopes.empty());
  const auto slopes = biased(
      probes, [](int64_t h, int64_t q, int64_t k) { return -0.5 * static_cast<double>((h + 1) * std::abs(k - q)); });
  ASSERT_TRUE(slopes);
  EXPECT_EQ(slopes->slopes, (std::vector<float>{0.5F, 1.0F}));
  EXPECT_FALSE(biased(probes, [](int64_t, int64_t, int64_t k) { return static_cast<double>(k); }));
}

/// Returns heads of `width` columns, of which `turned` are rotated by position with the angles base^(-2 i / turned).
Turned rotated(const std::vector<Probe>& probes, size_t width, size_t turned, double base, double sign = 1) {
  const size_t half = turned / 2;
  std::vector<std::vector<double>> cosines, sines;
  for (const Probe& probe : probes) {
    cosines.emplace_back();
    sines.emplace_back();
    for (size_t i = 0; i < static_cast<size_t>(probe.extents.tokens) * turned; ++i) {
      const double power = -static_cast<double>(i % half) / static_cast<double>(half);
      const double angle = static_cast<double>(i / turned) * std::pow(base, power);
      cosines.back().push_back(static_cast<double>(static_cast<float>(std::cos(angle))));
      sines.back().push_back(sign * static_cast<double>(static_cast<float>(std::sin(angle))));
    }
  }
  const Turned all(3, width, probes), part = turned < width ? all.cut(0, turned) : all;
  const Turned other = part.cut(half, turned).times(-1).joined(part.cut(0, half));
  const Turned out = part.times(cosines).plus(other.times(sines));
  return turned < width ? out.joined(all.cut(turned, width)) : out;
}

TEST(OnnxTurned, KnowsRotaryPlacesWithTheirBase) {
  const std::vector<Probe> probes = make_probes(-1, -1);
  for (const double base : {10000.0, 500000.0}) {
    for (const size_t turned : {size_t{8}, size_t{16}}) {
      double factor = 0;
      const auto turn = rotated(probes, 16, turned, base).times(0.25).turn(&factor);
      ASSERT_TRUE(turn) << base;
      EXPECT_EQ(turn->width, turned);
      EXPECT_EQ(turn->rotary.base, base);
      EXPECT_EQ(turn->rotary.amplitude, 1);
      EXPECT_TRUE(turn->rotary.divisors.empty());
      EXPECT_EQ(factor, 0.25);
    }
  }
  double factor = 0;
  // Angles that integer arithmetic has made 0 stay 0 at every position.
  const auto rounded = rotated(probes, 16, 16, std::numeric_limits<double>::infinity()).turn(&factor);
  ASSERT_TRUE(rounded);
  const std::vector<float> table = rotary_angles(9, 16, rounded->rotary);
  EXPECT_EQ(table[8 * 16 + 7], 1) << "cosine";
  EXPECT_EQ(table[8 * 16 + 15], 0) << "sine";
  EXPECT_NEAR(table[8 * 16], std::cos(8.0), 1e-5);
  EXPECT_FALSE(rotated(probes, 16, 16, 10000, -1).turn(&factor)) << "turned the other way";
  EXPECT_FALSE(Turned(0, 16, probes).turn(&factor)) << "not turned";
  const Turned plain(0, 4, probes);
  EXPECT_FALSE(plain.plus(plain.cut(1, 2).joined(plain.cut(0, 1)).joined(plain.cut(2, 4))).turn(&factor));
}

TEST(OnnxPlaces, KnowsScoresOfPlacesByDistance) {
  const fs::path root = fs::temp_directory_path() / ("bantam-onnx-places-" + std::to_string(::getpid()));
  fs::create_directories(root);
  // Five places, the rows of `table` [1, 8, 5], scored with queries; `place` computes the place of each pair.
  const auto imported = [&](const std::string& place, const std::string& more = "") {
    std::vector<float> values;
    for (int i = 0; i < 40; ++i) values.push_back(static_cast<float>(i % 5) + 1);
    const auto number = [](const char* name, int64_t value) {
      return b::initializer(b::tensor(name, 7, {}, b::raw(b::integers({value}))));
    };
    const std::string constants = b::initializer(b::tensor("table", 1, {1, 8, 5}, b::raw(b::floats(values)))) +
                                  number("two", 2) + number("four", 4) + number("eight", 8);
    const std::string nodes =
        b::node("Sub", {"queries", "keys"}, {"behind"}) + b::node("Add", {"behind", "two"}, {"moved"}) +
        b::node("Clip", {"moved", "0", "four"}, {"near_place"}) + b::node("Add", {"behind", "eight"}, {"far"}) +
        b::node("Add", {"keys", "queries"}, {"both"}) + b::node("MatMul", {"xq", "table"}, {"all"}) +
        b::node("GatherElements", {"all", place}, {"selected"},
                b::text(5, b::text(1, "axis") + b::number(3, 2) + b::number(20, 2))) +
        b::node("Add", {"scores", "selected"}, {"sum"}) + more +
        b::node("Add", {more.empty() ? "sum" : "twice", "mask"}, {"masked"});
    std::ofstream(root / "m.onnx", std::ios::binary) << attention_in_window(600, constants + nodes);
    ImportOptions options;
    options.ids_only = true;
    options.max_tokens = 16;
    return import_hugging_face(root / "m.onnx", options);
  };
  const Graph graph = imported("near_place");
  int32_t rows = -1, keys = -1;
  for (const auto& op : graph.model.subgraphs.front()->ops) {
    const fb::AttentionT* attention = op->attributes.AsAttention();
    if (attention == nullptr) continue;
    rows = op->inputs[static_cast<size_t>(attention->place_rows)];
    keys = op->inputs[static_cast<size_t>(attention->place_keys)];
    EXPECT_EQ(attention->place_queries, -1);
  }
  ASSERT_GE(keys, 0);
  // From the farthest following key on, whose place is the last; distances with the same place share a row.
  const std::vector<float>& by_distance = graph.constants[static_cast<size_t>(rows)]->values;
  ASSERT_EQ(by_distance.size(), 31u);
  EXPECT_EQ(by_distance.front(), 0);
  EXPECT_EQ(by_distance[13], 0);
  EXPECT_EQ(by_distance[15], 2);
  EXPECT_EQ(by_distance.back(), 4);
  const std::vector<float>& table = graph.constants[static_cast<size_t>(keys)]->values;
  ASSERT_EQ(table.size(), 16u * 8);
  EXPECT_EQ(table[0], 5) << "the last place of the file";
  EXPECT_EQ(table[4 * 8], 1);
  EXPECT_EQ(table[5 * 8], 0) << "fills up";
  const auto refused = [&](const std::string& place, const std::string& more = "") -> std::string {
    try {
      imported(place, more);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refused("keys").find("each pair"), std::string::npos);
  EXPECT_NE(refused("both").find("otherwise than by distance"), std::string::npos);
  EXPECT_NE(refused("far").find("otherwise than by distance"), std::string::npos) << "places that are not there";
  EXPECT_NE(refused("near_place", b::node("Add", {"sum", "selected"}, {"twice"})).find("twice"), std::string::npos);
  EXPECT_NE(refused("near_place", b::node("Add", {"sum", "all"}, {"twice"})).find("no distances"), std::string::npos);
  fs::remove_all(root);
}

TEST(OnnxCones, SeesWindowsOfAnyWidth) {
  const fs::path root = fs::temp_directory_path() / ("bantam-onnx-window-" + std::to_string(::getpid()));
  fs::create_directories(root);
  const auto imported = [&](int64_t window) {
    std::ofstream(root / "m.onnx", std::ios::binary) << attention_in_window(window);
    ImportOptions options;
    options.ids_only = true;
    const Graph graph = import_hugging_face(root / "m.onnx", options);
    for (const auto& op : graph.model.subgraphs.front()->ops) {
      const fb::AttentionT* attention = op->attributes.AsAttention();
      if (attention != nullptr) return std::pair{attention->mask, attention->window};
    }
    return std::pair{fb::MaskKind::none, 0u};
  };
  for (const uint32_t window : {1u, 5u, 20u, 300u}) {
    EXPECT_EQ(imported(window), (std::pair{fb::MaskKind::window, window}));
  }
  // Wider than the longest text, which has 512 tokens by default.
  EXPECT_EQ(imported(600), (std::pair{fb::MaskKind::none, 0u}));
  std::ofstream(root / "config.json") << "{\"max_position_embeddings\": 4096}";
  EXPECT_EQ(imported(600), (std::pair{fb::MaskKind::window, 600u}));
  EXPECT_THROW(imported(2000), Error) << "longer than what is run";
  fs::remove_all(root);
}

TEST(OnnxCones, KnowsIndicesByWhatTheyAre) {
  const std::vector<Probe> probes = make_probes(-1, -1);
  const auto index = [&](const auto& value) {
    std::vector<HostTensor> rows;
    for (const Probe& probe : probes) {
      HostTensor row = probe.input(InputRole::kIds);
      for (size_t i = 0; i < row.ints.size(); ++i) row.ints[i] = value(probe, static_cast<int64_t>(i));
      rows.push_back(std::move(row));
    }
    return recognise_index(probes, rows);
  };
  const auto places = index([](const Probe& probe, int64_t i) { return i % probe.extents.tokens + 2; });
  ASSERT_TRUE(places);
  EXPECT_EQ(places->source, fb::IndexSource::positions);
  EXPECT_EQ(places->first, 2);
  EXPECT_EQ(index([](const Probe& p, int64_t i) { return p.segments[static_cast<size_t>(i)]; })->source,
            fb::IndexSource::segments);
  EXPECT_EQ(index([](const Probe& p, int64_t i) { return p.ids[static_cast<size_t>(i)]; })->source,
            fb::IndexSource::ids);
  EXPECT_EQ(index([](const Probe&, int64_t) { return 3; })->source, fb::IndexSource::zero);
  EXPECT_FALSE(index([](const Probe&, int64_t i) { return i * i; }));
}

}  // namespace
}  // namespace bantam::convert::onnx
