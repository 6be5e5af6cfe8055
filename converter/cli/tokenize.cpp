// tokenize: prints ids, tokens and offsets, as the file's tokenizer computes them.
#include <memory>
#include <optional>
#include <vector>

#include "bantam/decode.h"
#include "base/text_positions.h"
#include "cli/answer/engine.h"
#include "cli/answer/run.h"
#include "cli/answer/stream.h"
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"
#include "cli/frame/numbers.h"
#include "cli/frame/output.h"
#include "run/spelled_token.h"

namespace bantam::cli {

using convert::spelled_token;

namespace {

struct TokenizeOptions {
  std::string model;
  std::vector<std::string> texts;
  std::string file;
  std::optional<std::string> pair;
  uint32_t max_tokens = 0;
  bool truncate = false;
  bool no_special = false;
  bool strict = false;
  bool decode = false;
  bool json = false;
  convert::PositionUnit offsets = convert::PositionUnit::kBytes;
};

/// One encoded text with its own storage.
struct Tokens {
  std::vector<int32_t> ids;
  std::vector<int32_t> segments;
  std::vector<Offset> offsets;
  std::vector<uint8_t> sequences;
  EncodeResult result;
};

/// Fails because the text cannot be truncated to --max-tokens.
[[noreturn]] void refuse_limit(const Tokenizer& tokenizer, const TokenizeOptions& options, const std::string& text) {
  const uint32_t specials = options.no_special ? 0 : tokenizer.special_count(options.pair.has_value());
  if (options.max_tokens != 0 && options.max_tokens < specials) {
    fail(ExitCode::kUsage, "--max-tokens {}: the special tokens alone are {}; give more, or --no-special",
         options.max_tokens, specials);
  }
  fail(ExitCode::kInvalid,
       "text \"{}\": the file's tokenizer shortens only one text of a pair, and that is too short; {}",
       printable(text.substr(0, 40)), "shorten the other");
}

constexpr uint32_t kMostFilled = 1U << 20;

Tokens encode(const Tokenizer& tokenizer, const TokenizeOptions& options, const std::string& text) {
  const Text first{text.data(), text.size()};
  const Text second = options.pair ? Text{options.pair->data(), options.pair->size()} : Text{};
  EncodeOptions encode;
  encode.add_special = !options.no_special;
  encode.max_tokens = options.max_tokens;
  if (!options.truncate && options.max_tokens == 0) {
    encode.truncation = TruncationSide::kNone;
    encode.max_tokens = UINT32_MAX;  // ignore the file's limit too
  }
  Tokens tokens;
  // Encodes once with a small buffer to count the tokens, and again if they did not fit. Padding may extend texts to
  // their limit.
  for (uint32_t capacity = std::max(64U, std::min(tokenizer.max_tokens(), kMostFilled));;) {
    tokens.ids.resize(capacity);
    tokens.segments.resize(capacity);
    tokens.offsets.resize(capacity);
    tokens.sequences.resize(capacity);
    const TokenBuffer buffer{tokens.ids.data(), tokens.segments.data(), tokens.offsets.data(), tokens.sequences.data(),
                             capacity};
    const Status status = tokenizer.encode(first, second, encode, buffer, &tokens.result);
    const uint32_t needed =
        tokens.result.content[0] + tokens.result.content[1] + tokenizer.special_count(options.pair.has_value());
    const bool cramped = status == Status::kBufferTooSmall || (status == Status::kOk && tokens.result.truncated);
    if (!cramped || capacity >= needed) {
      if (status == Status::kBufferTooSmall) refuse_limit(tokenizer, options, text);
      check(status, options.model);
      break;
    }
    capacity = needed;
  }
  tokens.ids.resize(tokens.result.count);
  return tokens;
}

/// Converts token positions to the unit that --offsets names.
class Places {
 public:
  Places(const TokenizeOptions& options, const std::string& text)
      : first_(text, options.offsets), second_(options.pair.value_or(""), options.offsets) {}
  Offset of(const Tokens& tokens, size_t index) const {
    const convert::TextPositions& text = tokens.sequences[index] == 1 ? second_ : first_;
    return {text.at(tokens.offsets[index].begin), text.at(tokens.offsets[index].end)};
  }

 private:
  convert::TextPositions first_, second_;
};

void print_json(const Tokenizer& tokenizer, const TokenizeOptions& options, const std::string& text,
                const Tokens& tokens) {
  Json object = json_object("tokenize");
  object["text"] = text;
  object["ids"] = tokens.ids;
  const Places places(options, text);
  object["tokens"] = Json::array();
  object["offsets"] = Json::array();
  object["segments"] = Json::array();
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    object["tokens"].push_back(spelled_token(tokenizer, static_cast<uint32_t>(tokens.ids[i])));
    const Offset place = places.of(tokens, i);
    object["offsets"].push_back({place.begin, place.end});
    object["segments"].push_back(tokens.segments[i]);
  }
  if (options.pair) {
    object["pair"] = *options.pair;
    // The sequence (0 or 1) that each offset refers to; null for special tokens.
    object["sequences"] = Json::array();
    for (size_t i = 0; i < tokens.ids.size(); ++i) {
      object["sequences"].push_back(tokens.sequences[i] <= 1 ? Json(tokens.sequences[i]) : Json(nullptr));
    }
  }
  object["truncated"] = tokens.result.truncated;
  out().line(object);
}

void print_plain(const Tokenizer& tokenizer, const TokenizeOptions& options, const std::string& text,
                 const Tokens& tokens) {
  const Places places(options, text);
  const bool bytes = options.offsets == convert::PositionUnit::kBytes;
  std::vector<std::vector<std::string>> rows = {{"id", "token", bytes ? "bytes" : "place"}};
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    const bool special = tokens.sequences[i] > 1;
    const Offset place = places.of(tokens, i);
    rows.push_back({fmt::format("{}", tokens.ids[i]),
                    printable(spelled_token(tokenizer, static_cast<uint32_t>(tokens.ids[i]))),
                    special ? "" : fmt::format("{}..{}", place.begin, place.end)});
  }
  print_table(rows);
  if (tokens.result.truncated) out().print("{}\n", dim("(truncated)"));
}

void print_tokens(const Tokenizer& tokenizer, const TokenizeOptions& options, const std::string& text) {
  const Tokens tokens = encode(tokenizer, options, text);
  if (options.strict && tokens.result.truncated) {
    fail(ExitCode::kInvalid, "--strict: text \"{}\" has more tokens than fit; shorten it or leave out --strict",
         printable(text.substr(0, 40)));
  }
  if (options.json) {
    print_json(tokenizer, options, text, tokens);
  } else {
    print_plain(tokenizer, options, text, tokens);
  }
  out().flush();
}

/// Turns a list of ids into text. An error concerns only its line, not the command: a stream continues after it.
void print_text(const Tokenizer& tokenizer, const TokenizeOptions& options, const std::string& line) {
  std::vector<int32_t> ids;
  try {
    ids = parse_numbers(line, "--decode");
  } catch (const Error& error) {
    throw Error(ExitCode::kInvalid, error.problems().front());
  }
  check_range(ids, tokenizer.vocab_size(), "--decode");
  std::string text;
  const auto decoded = [&](size_t* size) {
    return decode(tokenizer, ids.data(), ids.size(), options.no_special, text.data(), text.size(), size);
  };
  size_t size = 0;
  Status status = decoded(&size);  // get the size
  if (status == Status::kBufferTooSmall) {
    text.resize(size);
    status = decoded(&size);
  }
  if (status == Status::kUnsupported) {
    fail(ExitCode::kUnsupported,
         "{}: the file does not say how its tokens become text: an older version made it, or convert does not know its "
         "tokenizer's decoder and said so; make texts of ids with the original library",
         options.model);
  }
  check(status, options.model);
  if (options.json) {
    Json object = json_object("tokenize");
    object["ids"] = ids;
    object["text"] = text;
    out().line(object);
  } else {
    out().print("{}\n", printable(text));
  }
  out().flush();
}

void run_tokenize(const TokenizeOptions& options) {
  const ModelFile file(options.model);
  Tokenizer tokenizer;
  check(Tokenizer::open(file.model(), 0, &tokenizer), options.model);
  std::vector<std::string> texts = options.texts;
  require_texts("text", options.file, &texts);
  RunOptions lines;
  lines.command = "tokenize";
  lines.texts = texts;
  lines.file = options.file;
  lines.json = options.json;
  answer_each(lines, [&](const std::string& text) {
    options.decode ? print_text(tokenizer, options, text) : print_tokens(tokenizer, options, text);
  });
}

}  // namespace

void add_tokenize(Program& program) {
  Command& command = program.add_command("tokenize", "Show the ids, tokens and offsets of texts", kExamineGroup);
  auto options = std::make_shared<TokenizeOptions>();
  command.add_option("FILE", options->model, "FILE.bantam", "A .bantam file").required();
  command.add_texts("TEXT", &options->texts, "Texts; if none or -, read standard input, one per line");
  command.add_option("--file", options->file, "FILE",
                     "Read texts from this file, one per line; of JSON lines and tables, the \"text\" of each record");
  command.add_text("--pair", &options->pair, "Second text of a pair");
  command.add_flag("--truncate", options->truncate, "Truncate as run does (default: show every token)");
  command.add_option("--max-tokens", options->max_tokens, "N", "Truncate to N tokens, including special tokens");
  command.add_flag("--no-special", options->no_special,
                   "Leave out the tokens that the template adds; with --decode, special tokens");
  command.add_flag("--strict", options->strict, "Fail (exit 4) instead of truncating a text");
  command.add_option("--offsets", options->offsets, "UNIT",
                     "Unit of offsets: bytes (default), chars (code points, as in Python) or utf16 (as in JavaScript)",
                     position_units());
  command
      .add_flag("--decode", options->decode,
                "Read texts as lists of ids, separated by commas or blanks, and print their text")
      .not_with({"--pair", "--truncate", "--max-tokens", "--strict", "--offsets"});
  command.add_flag("--json", options->json, "Print one JSON object per line");
  command.footer(
      "Offsets are half-open ranges of the text; tokens that the template adds have [0,0].\n\n"
      "Examples:\n"
      "  bantam tokenize voice.bantam \"caf\xc3\xa9 au lait\"\n"
      "  bantam tokenize voice.bantam --json < lines.txt\n"
      "  bantam tokenize voice.bantam --decode \"2 384 122 1437 3\"");
  command.action([options] { run_tokenize(*options); });
}

}  // namespace bantam::cli
