// Chat templates as tokenizers publish them: the part of Jinja that they use, without anything that reads files, runs
// code or takes long. Only the converter interprets templates; files store their effect on conversations as plain data
// (chat.h).
#ifndef BANTAM_CONVERTER_TOKENIZER_CHAT_JINJA_H_
#define BANTAM_CONVERTER_TOKENIZER_CHAT_JINJA_H_

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_file.h"

namespace bantam::convert::jinja {

/// Why a template cannot be read, an unsupported feature that it uses, or its refusal of the given input
/// (raise_exception).
class Problem : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A node of a template's syntax tree. Statements: kText `text`; kOutput {expression}; kIf {condition, then,
/// otherwise}; kFor `text` (names, separated by a comma) {list, body, otherwise, condition or null}; kSet `text` (name,
/// or name.attribute) {expression or body}; kBlock {parts}. Expressions: kLiteral `value`; kName; kList; kDict {key,
/// value, ...}; kAttribute {of} `text`; kItem {of, index}; kSlice {of, from, to}; kCall {of, arguments} with `names` of
/// keyword arguments; kFilter `text` {of, arguments}; kTest `text` {of, arguments}; kUnary, kBinary `text`; kChoice
/// {condition, then, otherwise}. Absent parts are null.
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

/// Parses a template as transformers does (trim_blocks, lstrip_blocks). Throws Problem. O(size).
std::unique_ptr<Node> parse(std::string_view text);

/// Renders the template with the variables. Throws Problem, also if it exceeds a limit of steps or bytes.
std::string render(const Node& root, const Json& variables);

}  // namespace bantam::convert::jinja

#endif  // BANTAM_CONVERTER_TOKENIZER_CHAT_JINJA_H_
