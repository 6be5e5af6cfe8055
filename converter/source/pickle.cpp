#include "source/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>

#include "base/error.h"
#include "base/memory_budget.h"

namespace bantam::convert {
namespace {

struct Storage {
  const char* name;  // class name in the module torch
  const char* dtype;
  uint32_t bytes;
};
constexpr std::array<Storage, 10> kStorages = {{{"FloatStorage", "F32", 4},
                                                {"HalfStorage", "F16", 2},
                                                {"BFloat16Storage", "BF16", 2},
                                                {"DoubleStorage", "F64", 8},
                                                {"LongStorage", "I64", 8},
                                                {"IntStorage", "I32", 4},
                                                {"ShortStorage", "I16", 2},
                                                {"CharStorage", "I8", 1},
                                                {"ByteStorage", "U8", 1},
                                                {"BoolStorage", "BOOL", 1}}};

constexpr size_t kMostNameBytes = 1024;

enum class Kind { kNone, kBool, kInteger, kFloat, kText, kSequence, kDict, kGlobal, kStorage, kTensor };

/// A value that the pickle builds. Values refer to others by index, so that nothing is nested in memory.
struct Value {
  Kind kind = Kind::kNone;
  // kInteger, kBool: the value; kStorage: number of elements; kTensor: index into the tensors.
  int64_t integer = 0;
  std::string_view text;          // kText; kGlobal: "module name"; kStorage: its key
  const Storage* type = nullptr;  // kStorage
  std::vector<uint32_t> items;    // kSequence: items; kDict: alternating keys and values
};

/// The stack machine that executes a pickle.
class Machine {
 public:
  Machine(std::string_view pickle, const std::string& where, uint64_t source)
      : pickle_(pickle), where_(where), budget_(where, source) {}

  std::map<std::string, PickledTensor> run() {
    while (!stopped_) step();
    return state_dict(pop());
  }

 private:
  [[noreturn]] void invalid(const std::string& why) const {
    throw Error(ExitCode::kInvalid,
                fmt::format("{}: {}, at byte {} of its pickle; download or copy it again", where_, why, at_));
  }
  [[noreturn]] void unsupported(const std::string& what) const {
    throw Error(
        ExitCode::kUnsupported,
        fmt::format("{}: it {}; bantam reads tensors only and executes nothing: use a model.safetensors, or, if "
                    "you trust the file, save it again with transformers",
                    where_, what));
  }

  // bytes of the program

  std::string_view take(uint64_t bytes_asked) {
    if (bytes_asked > pickle_.size() - at_) invalid("truncated");
    const auto size = static_cast<size_t>(bytes_asked);
    const std::string_view bytes = pickle_.substr(at_, size);
    at_ += size;
    return bytes;
  }
  uint64_t number(size_t bytes) {
    const std::string_view text = take(bytes);
    uint64_t value = 0;
    for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(text[i]);
    return value;
  }
  std::string_view line() {
    const size_t end = pickle_.find('\n', at_);
    if (end == std::string_view::npos) invalid("truncated");
    const std::string_view text = pickle_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }
  /// A two's complement number of up to eight bytes.
  int64_t signed_number(uint64_t bytes) {
    if (bytes > 8) invalid("holds a number of more than 64 bits");
    if (bytes == 0) return 0;
    uint64_t value = number(static_cast<size_t>(bytes));
    const uint64_t sign = uint64_t{1} << (8 * bytes - 1);
    if (bytes < 8 && (value & sign) != 0) value |= ~uint64_t{0} << (8 * bytes);
    return static_cast<int64_t>(value);
  }

  // values and the stack

  uint32_t add(Value value) {
    // While a vector grows, it holds its old memory and twice as much new memory.
    budget_.take(3 * sizeof(Value) + (2 + value.items.size()) * sizeof(uint32_t), "the values of its pickle");
    values_.push_back(std::move(value));
    return static_cast<uint32_t>(values_.size() - 1);
  }
  void push(Value value) { stack_.push_back(add(std::move(value))); }
  void push_integer(int64_t integer, Kind kind = Kind::kInteger) {
    Value value;
    value.kind = kind;
    value.integer = integer;
    push(std::move(value));
  }
  void push_text(std::string_view text, Kind kind = Kind::kText) {
    Value value;
    value.kind = kind;
    value.text = text;
    push(std::move(value));
  }
  uint32_t pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) invalid("takes more than there is");
    const uint32_t top = stack_.back();
    stack_.pop_back();
    return top;
  }
  uint32_t top() {
    const uint32_t value = pop();
    stack_.push_back(value);
    return value;
  }
  std::vector<uint32_t> pop_to_mark() {
    if (marks_.empty()) invalid("has no mark");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<uint32_t> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }
  void push_sequence(std::vector<uint32_t> items, Kind kind = Kind::kSequence) {
    Value value;
    value.kind = kind;
    value.items = std::move(items);
    push(std::move(value));
  }
  void push_last(size_t count) {
    std::vector<uint32_t> items(count);
    for (size_t i = count; i-- > 0;) items[i] = pop();
    push_sequence(std::move(items));
  }
  /// Appends to the list or dict on top of the stack.
  void extend(const std::vector<uint32_t>& items, Kind kind) {
    Value& target = values_[top()];
    if (target.kind != kind || (kind == Kind::kDict && items.size() % 2 != 0))
      invalid("adds to what cannot be added to");
    budget_.take(3 * sizeof(uint32_t) * items.size(), "the lists of its pickle");
    target.items.insert(target.items.end(), items.begin(), items.end());
  }

  // calls

  void call() {
    const uint32_t arguments = pop();
    const Value& function = values_[pop()];
    if (function.kind != Kind::kGlobal) invalid("calls something that is not a function");
    if (values_[arguments].kind != Kind::kSequence) invalid("calls a function without arguments");
    const std::string_view name = function.text;
    if (name == "collections OrderedDict") {
      if (!values_[arguments].items.empty()) unsupported("makes an OrderedDict of other values");
      push_sequence({}, Kind::kDict);
    } else if (name == "torch._utils _rebuild_tensor_v2") {
      push_integer(static_cast<int64_t>(add_tensor(values_[arguments].items)), Kind::kTensor);
    } else if (name == "torch._utils _rebuild_parameter") {
      const std::vector<uint32_t>& items = values_[arguments].items;
      if (items.empty() || values_[items[0]].kind != Kind::kTensor) invalid("has a parameter that is not a tensor");
      stack_.push_back(items[0]);
    } else {
      unsupported(fmt::format("calls {}", printed(name)));
    }
  }
  static std::string printed(std::string_view name) {
    std::string text(name.substr(0, 80));
    for (char& c : text) {
      if (c == ' ') c = '.';
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) c = '?';
    }
    return text;
  }

  /// Pushes the name of a function or class; only the known ones are allowed.
  void push_global(std::string_view module, std::string_view name) {
    const std::string full = std::string(module) + " " + std::string(name);
    static constexpr std::array<std::string_view, 3> kKnown = {
        "collections OrderedDict", "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_parameter"};
    const auto known = std::find(kKnown.begin(), kKnown.end(), full);
    if (known != kKnown.end()) return push_text(*known, Kind::kGlobal);
    if (module == "torch") {
      for (const Storage& storage : kStorages) {
        if (name != storage.name) continue;
        Value value;
        value.kind = Kind::kGlobal;
        value.type = &storage;
        return push(std::move(value));
      }
    }
    unsupported(fmt::format("asks for {}", printed(full)));
  }

  /// Pushes a storage from ("storage", class, key, device, elements).
  void push_storage() {
    const Value& id = values_[pop()];
    if (id.kind != Kind::kSequence || id.items.size() < 5) invalid("has a storage without a description");
    const Value& type = values_[id.items[1]];
    const Value& key = values_[id.items[2]];
    const Value& elements = values_[id.items[4]];
    if (type.type == nullptr || key.kind != Kind::kText || elements.kind != Kind::kInteger || elements.integer < 0) {
      invalid("has a storage without a type, a key or a size");
    }
    if (key.text.size() > kMostNameBytes) invalid("has a storage with too long a name");
    Value value;
    value.kind = Kind::kStorage;
    value.type = type.type;
    value.text = key.text;
    value.integer = elements.integer;
    push(std::move(value));
  }

  std::vector<uint64_t> counts(uint32_t index) const {
    const Value& list = values_[index];
    if (list.kind != Kind::kSequence) invalid("has a tensor whose shape is not a tuple");
    std::vector<uint64_t> result;
    result.reserve(list.items.size());
    for (const uint32_t item : list.items) {
      if (values_[item].kind != Kind::kInteger || values_[item].integer < 0) invalid("has a tensor with a wrong shape");
      result.push_back(static_cast<uint64_t>(values_[item].integer));
    }
    return result;
  }

  /// Adds a tensor from (storage, offset, shape, strides, requires_grad, hooks).
  size_t add_tensor(const std::vector<uint32_t>& arguments) {
    if (arguments.size() < 4) invalid("has a tensor without a shape");
    const Value& storage = values_[arguments[0]];
    const Value& offset = values_[arguments[1]];
    if (storage.kind != Kind::kStorage || offset.kind != Kind::kInteger || offset.integer < 0) {
      invalid("has a tensor without a storage");
    }
    constexpr size_t kMostDimensions = 8;
    // Stored three times: here, in the dict, and in TorchFile.
    budget_.take(3 * (sizeof(PickledTensor) + storage.text.size() + 2 * kMostDimensions * sizeof(uint64_t)),
                 "the tensors of its pickle");
    PickledTensor tensor;
    tensor.dtype = storage.type->dtype;
    tensor.storage = std::string(storage.text);
    tensor.storage_elements = static_cast<uint64_t>(storage.integer);
    tensor.offset = static_cast<uint64_t>(offset.integer);
    if (values_[arguments[2]].items.size() > kMostDimensions) invalid("has a tensor of too many dimensions");
    tensor.shape = counts(arguments[2]);
    if (values_[arguments[3]].items.size() != tensor.shape.size()) invalid("has a tensor whose strides do not fit it");
    tensor.strides = counts(arguments[3]);
    tensors_.push_back(std::move(tensor));
    return tensors_.size() - 1;
  }

  std::map<std::string, PickledTensor> state_dict(uint32_t result) const {
    const Value& dict = values_[result];
    if (dict.kind != Kind::kDict) unsupported("holds something else than a state dict");
    std::map<std::string, PickledTensor> tensors;
    for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
      const Value& key = values_[dict.items[i]];
      const Value& value = values_[dict.items[i + 1]];
      if (key.kind != Kind::kText) unsupported("has a key that is not a text");
      if (key.text.size() > kMostNameBytes) invalid("has a tensor with too long a name");
      if (value.kind != Kind::kTensor)
        unsupported(fmt::format("holds \"{}\", which is not a tensor", printed(key.text)));
      tensors.insert_or_assign(std::string(key.text), tensors_[static_cast<size_t>(value.integer)]);
    }
    return tensors;
  }

  void memoize(uint64_t index) {
    constexpr uint64_t kEntry = 64;  // approximate size of a hash table entry
    budget_.take(kEntry, "what its pickle keeps");
    memo_[index] = top();
  }
  void recall(uint64_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) invalid("recalls what was not kept");
    stack_.push_back(found->second);
  }

  /// Executes one instruction.
  void step() {
    const auto code = static_cast<unsigned char>(take(1)[0]);
    if (step_value(code) || step_container(code) || step_memo(code)) return;
    switch (code) {
      case 'c': {  // GLOBAL
        const std::string_view module = line();
        return push_global(module, line());
      }
      case 0x93: {  // STACK_GLOBAL
        const std::string_view name = values_[pop()].text;
        return push_global(values_[pop()].text, name);
      }
      case 'R':  // REDUCE
        return call();
      case 'Q':  // BINPERSID
        return push_storage();
      case 'b':  // BUILD: attributes of an OrderedDict (_metadata of a state dict), which are not needed
        pop();
        if (values_[top()].kind != Kind::kDict) unsupported("changes the state of an object");
        return;
      case 0x80:  // PROTO
        if (number(1) > 5) unsupported("is of a newer protocol");
        return;
      case 0x95:  // FRAME
        number(8);
        return;
      case '0':  // POP
        pop();
        return;
      case '.':  // STOP
        stopped_ = true;
        return;
      default:
        unsupported(fmt::format("holds the instruction 0x{:02x}, which a state dict does not need", code));
    }
  }

  bool step_value(unsigned char code) {
    switch (code) {
      case 'N':  // NONE
        push({});
        return true;
      case 0x88:  // NEWTRUE
      case 0x89:  // NEWFALSE
        push_integer(code == 0x88, Kind::kBool);
        return true;
      case 'K':  // BININT1
      case 'M':  // BININT2
        push_integer(static_cast<int64_t>(number(code == 'K' ? 1 : 2)));
        return true;
      case 'J':  // BININT
        push_integer(signed_number(4));
        return true;
      case 0x8a:  // LONG1
        push_integer(signed_number(number(1)));
        return true;
      case 'G':  // BINFLOAT
        take(8);
        push_integer(0, Kind::kFloat);
        return true;
      case 'X':     // BINUNICODE
      case 0x8c:    // SHORT_BINUNICODE
      case 0x8d: {  // BINUNICODE8
        push_text(take(number(code == 'X' ? 4 : code == 0x8c ? 1 : 8)));
        return true;
      }
      default:
        return false;
    }
  }

  bool step_container(unsigned char code) {
    switch (code) {
      case '(':  // MARK
        marks_.push_back(stack_.size());
        return true;
      case ')':  // EMPTY_TUPLE
      case ']':  // EMPTY_LIST
        push_sequence({});
        return true;
      case '}':  // EMPTY_DICT
        push_sequence({}, Kind::kDict);
        return true;
      case 't':  // TUPLE
        push_sequence(pop_to_mark());
        return true;
      case 0x85:  // TUPLE1
      case 0x86:
      case 0x87:
        push_last(code - 0x84u);
        return true;
      case 'a': {  // APPEND
        const uint32_t item = pop();
        extend({item}, Kind::kSequence);
        return true;
      }
      case 'e':  // APPENDS
        extend(pop_to_mark(), Kind::kSequence);
        return true;
      case 's': {  // SETITEM
        const uint32_t value = pop();
        const uint32_t key = pop();
        extend({key, value}, Kind::kDict);
        return true;
      }
      case 'u':  // SETITEMS
        extend(pop_to_mark(), Kind::kDict);
        return true;
      default:
        return false;
    }
  }

  bool step_memo(unsigned char code) {
    switch (code) {
      case 'q':  // BINPUT
      case 'r':  // LONG_BINPUT
        memoize(number(code == 'q' ? 1 : 4));
        return true;
      case 0x94:  // MEMOIZE
        memoize(memo_.size());
        return true;
      case 'h':  // BINGET
      case 'j':  // LONG_BINGET
        recall(number(code == 'h' ? 1 : 4));
        return true;
      default:
        return false;
    }
  }

  std::string_view pickle_;
  const std::string& where_;
  MemoryBudget budget_;
  size_t at_ = 0;
  bool stopped_ = false;
  std::vector<Value> values_;
  std::vector<PickledTensor> tensors_;
  std::vector<uint32_t> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, uint32_t> memo_;
};

}  // namespace

std::map<std::string, PickledTensor> read_state_dict(std::string_view pickle, const std::string& where,
                                                     uint64_t source) {
  return Machine(pickle, where, source).run();
}

uint32_t element_bytes(const std::string& dtype) {
  for (const Storage& storage : kStorages) {
    if (dtype == storage.dtype) return storage.bytes;
  }
  return 0;
}

}  // namespace bantam::convert
