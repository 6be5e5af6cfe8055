// Reads the protobuf messages of an ONNX file from a mapping, without copying tensor data.
#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "onnx/message.h"
#include "onnx/model.h"
#include "onnx/tensor_reader.h"
#include "source/weight_file.h"

namespace bantam::convert::onnx {
namespace fs = std::filesystem;
namespace {

constexpr int kDeepestGraph = 8;
constexpr uint64_t kOfTensor = 1024, kOfPort = 256;  // including the structures built for them later

class MessageReader {
 public:
  MessageReader(std::string file, fs::path directory, Model& model)
      : file_(std::move(file)), model_(model), tensors_(file_, std::move(directory), model) {}

  void read(std::string_view bytes) {
    try {
      model(bytes);
    } catch (const protozero::exception&) {
      fail(
          "is not an ONNX file, or cut off: its protobuf ends in the middle of a field, or has a field of another "
          "type; copy it again");
    }
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ExitCode::kInvalid, fmt::format("{}: {}", file_, why));
  }

  void model(std::string_view bytes) {
    Message in({bytes.data(), bytes.size()});
    bool graph_seen = false;
    while (in.next()) {
      switch (in.tag()) {
        case 2:
          model_.producer = in.get_string();
          break;
        case 7:
          if (graph_seen) fail("holds two graphs");
          graph_seen = true;
          model_.graph = graph(in.get_view(), 0);
          break;
        case 8:
          opset(in.get_view());
          break;
        case 25:
          model_.functions.push_back(function(in.get_view()));
          break;
        default:
          in.skip();
      }
    }
    if (!graph_seen) fail("is not an ONNX file: it holds no graph");
    if (model_.opset == 0) fail("names no opset");
    if (model_.opset < kOldestOpset || model_.opset > kNewestOpset) {
      throw Error(ExitCode::kUnsupported,
                  fmt::format("{}: opset {} is not read, {} to {} are; convert it by onnx.version_converter", file_,
                              model_.opset, kOldestOpset, kNewestOpset));
    }
  }

  void opset(protozero::data_view bytes) {
    Message in(bytes);
    std::string domain;
    int64_t version = 0;
    while (in.next()) {
      if (in.tag() == 1) {
        domain = in.get_string();
      } else if (in.tag() == 2) {
        version = in.get_int64();
      } else {
        in.skip();
      }
    }
    if (domain.empty() || domain == "ai.onnx") model_.opset = version;
  }

  NodeGraph graph(protozero::data_view bytes, int depth) {
    if (depth > kDeepestGraph) fail(fmt::format("graphs stand in each other more than {} deep", kDeepestGraph));
    NodeGraph out;
    Message in(bytes);
    while (in.next()) {
      switch (in.tag()) {
        case 1:
          out.nodes.push_back(node(in.get_view(), depth));
          break;
        case 5: {
          Tensor read = tensors_.read(in.get_view(), true);
          const std::string name = read.name;
          model_.budget->take(kOfTensor + 4 * name.size(), "its tensors");
          if (!out.initializers.emplace(name, std::move(read)).second)
            fail(fmt::format("two tensors are \"{}\"", name));
          break;
        }
        case 11:
          out.inputs.push_back(port(in.get_view()));
          break;
        case 12:
          out.outputs.push_back(port(in.get_view()));
          break;
        case 15:
          fail("has sparse tensors, which are not read");
        default:
          in.skip();
      }
    }
    return out;
  }

  Function function(protozero::data_view bytes) {
    Function out;
    Message in(bytes);
    while (in.next()) {
      switch (in.tag()) {
        case 1:
          out.name = in.get_string();
          break;
        case 4:
          out.inputs.push_back(name(in));
          break;
        case 5:
          out.outputs.push_back(name(in));
          break;
        case 7:
          out.nodes.push_back(node(in.get_view(), 0));
          break;
        case 10:
          out.domain = in.get_string();
          break;
        case 11: {
          auto [called, value] = attribute(in.get_view(), 0);
          model_.budget->take(bytes_of(value) + called.size(), "its functions");
          out.defaults.emplace(std::move(called), std::move(value));
          break;
        }
        default:
          in.skip();
      }
    }
    return out;
  }

  /// Names and texts may be empty and then take only two bytes of the file.
  std::string name(Message& in) {
    const protozero::data_view view = in.get_view();
    model_.budget->take(2 * sizeof(std::string) + view.size(), "its names");
    return {view.data(), view.size()};
  }

  Node node(protozero::data_view bytes, int depth) {
    Node out;
    Message in(bytes);
    while (in.next()) {
      switch (in.tag()) {
        case 1:
          out.inputs.push_back(name(in));
          break;
        case 2:
          out.outputs.push_back(name(in));
          break;
        case 3:
          out.name = in.get_string();
          break;
        case 4:
          out.op = in.get_string();
          break;
        case 5: {
          auto [called, value] = attribute(in.get_view(), depth);
          out.attributes.emplace(std::move(called), std::move(value));
          break;
        }
        case 7:
          out.domain = in.get_string();
          break;
        default:
          in.skip();
      }
    }
    if (out.domain == "ai.onnx") out.domain.clear();
    model_.budget->take(bytes_of(out), "its nodes");
    return out;
  }

  /// Counts twice the size, because a list doubles as it grows.
  template <typename T>
  void add(std::vector<T>& list, T value) {
    model_.budget->take(2 * sizeof(T), "the lists of its nodes");
    list.push_back(value);
  }

  std::pair<std::string, Attribute> attribute(protozero::data_view bytes, int depth) {
    std::string called;
    Attribute out;
    Message in(bytes);
    const auto packed = [&] { return in.wire_type() == protozero::pbf_wire_type::length_delimited; };
    while (in.next()) {
      switch (in.tag()) {
        case 1:
          called = in.get_string();
          break;
        case 2:
          out.f = in.get_float();
          break;
        case 3:
          out.i = in.get_int64();
          break;
        case 4:
          out.s = in.get_bytes();
          break;
        case 5:
          out.t = std::make_shared<Tensor>(tensors_.read(in.get_view(), false));
          break;
        case 6:
          out.g = std::make_shared<NodeGraph>(graph(in.get_view(), depth + 1));
          break;
        case 7:
          if (packed()) {
            for (const float value : in.get_packed_float()) add(out.floats, value);
          } else {
            add(out.floats, in.get_float());
          }
          break;
        case 9:
          out.strings.push_back(name(in));
          break;
        case 8:
          if (packed()) {
            for (const int64_t value : in.get_packed_int64()) add(out.ints, value);
          } else {
            add(out.ints, in.get_int64());
          }
          break;
        case 21:
          out.ref = in.get_string();
          break;
        default:
          in.skip();
      }
    }
    return {std::move(called), std::move(out)};
  }

  Port port(protozero::data_view bytes) {
    Port out;
    model_.budget->take(kOfPort + 2 * bytes.size(), "its inputs and outputs");
    Message in(bytes);
    while (in.next()) {
      if (in.tag() == 1) {
        out.name = in.get_string();
      } else if (in.tag() == 2) {
        Message type = in.get_message();
        while (type.next()) {
          if (type.tag() == 1) {
            tensor_type(type.get_view(), &out);
          } else {
            type.skip();
          }
        }
      } else {
        in.skip();
      }
    }
    return out;
  }

  void tensor_type(protozero::data_view bytes, Port* out) {
    Message in(bytes);
    while (in.next()) {
      if (in.tag() == 1) {
        out->type = static_cast<Type>(in.get_int32());
      } else if (in.tag() == 2) {
        Message shape = in.get_message();
        while (shape.next(1)) {
          Message dim = shape.get_message();
          int64_t extent = -1;
          while (dim.next()) {
            if (dim.tag() == 1) {
              extent = dim.get_int64();
            } else {
              dim.skip();
            }
          }
          add(out->dims, extent > 0 ? extent : int64_t{-1});
        }
      } else {
        in.skip();
      }
    }
  }

  std::string file_;
  Model& model_;
  TensorReader tensors_;
};

}  // namespace

Model read_model(const fs::path& path) {
  Model model;
  model.path = path;
  const uint64_t size = size_of_file(path);
  if (size == 0) throw Error(ExitCode::kInvalid, fmt::format("{}: is empty; copy it again", path.string()));
  auto mapped = std::make_shared<host::MappedFile>();
  if (mapped->open(path.c_str()) != Status::kOk) {
    throw Error(ExitCode::kIo, fmt::format("{}: cannot be read", path.string()));
  }
  model.mappings.push_back(mapped);
  model.budget = std::make_shared<MemoryBudget>(path.string(), mapped->size());
  MessageReader(path.string(), path.has_parent_path() ? path.parent_path() : fs::path("."), model)
      .read({reinterpret_cast<const char*>(mapped->data()), mapped->size()});
  settle(model);
  return model;
}

Model read_model(std::string_view bytes, const std::string& name) {
  Model model;
  model.path = name;
  model.budget = std::make_shared<MemoryBudget>(name, bytes.size());
  MessageReader(name, {}, model).read(bytes);
  settle(model);
  return model;
}

}  // namespace bantam::convert::onnx
