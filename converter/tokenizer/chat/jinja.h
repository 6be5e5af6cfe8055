// Templates of conversations as tokenizers publish them: the part of Jinja that they use, without anything that reads files, runs code or
// takes long. Only the converter knows it; what a template makes of conversations goes into files as plain data (chat.h).
#ifndef BANTAM_CONVERTER_TOKENIZER_CHAT_JINJA_H_
#define BANTAM_CONVERTER_TOKENIZER_CHAT_JINJA_H_

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_file.h"

namespace bantam::convert::jinja {

/// Why a template cannot be read, or what it uses that is not known here; or that it refuses what it was given (raise_exception).
class Problem : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A part of a template. Statements: kText `text`; kOutput {expression}; kIf {condition, then, otherwise}; kFor `text` (names, a comma
/// between two) {list, body, otherwise, condition or nothing}; kSet `text` (name, or name.attribute) {expression or body}; kBlock {parts}.
/// Expressions: kLiteral `value`; kName; kList; kDict {key, value, ...}; kAttribute {of} `text`; kItem {of, index}; kSlice {of, from, to}; kCall
/// {of, arguments} with `names` of those that have one; kFilter `text` {of, arguments}; kTest `text` {of, arguments}; kUnary, kBinary `text`;
/// kChoice {condition, then, otherwise}. Absent parts are null.
struct Node {
  enum class Kind {
    kText,
    kOutput,
    kIf,
    kFor,
    kSet,
    kBlock,
    kLiteral,
    kName,
    kList,
    kDict,
    kAttribute,
    kItem,
    kSlice,
    kCall,
    kFilter,
    kTest,
    kUnary,
    kBinary,
    kChoice
  };
  Kind kind;
  std::string text = {};
  Json value = {};
  std::vector<std::unique_ptr<Node>> parts = {};
  std::vector<std::string> names = {};
};

using NodeKind = Node::Kind;

/// Reads a template as transformers does (trim_blocks, lstrip_blocks). Throws Problem. O(size).
std::unique_ptr<Node> parse(std::string_view text);

/// Renders the template with the variables. Throws Problem; also where it takes more than a bounded number of steps or
/// bytes.
std::string render(const Node& root, const Json& variables);

}  // namespace bantam::convert::jinja

#endif  // BANTAM_CONVERTER_TOKENIZER_CHAT_JINJA_H_
