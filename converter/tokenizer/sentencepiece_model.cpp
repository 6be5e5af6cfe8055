#include "tokenizer/sentencepiece_model.h"

#include <fmt/format.h>

#include <protozero/pbf_reader.hpp>
#include <stdexcept>

#include "text/lexicon.h"

namespace bantam::convert {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// Field numbers of sentencepiece_model.proto.
enum ModelField : uint32_t { kPieces = 1, kTrainerSpec = 2, kNormalizerSpec = 3 };
enum PieceField : uint32_t { kPiece = 1, kScore = 2, kType = 3 };
enum TrainerField : uint32_t { kModelType = 3, kBlankAsSuffix = 24, kByteFallback = 35 };
enum NormalizerField : uint32_t { kCharsmap = 2, kDummyPrefix = 3, kExtraBlanks = 4, kEscapeBlanks = 5 };

void expect(const pbf_reader& reader, pbf_wire_type type) {
  if (reader.wire_type() != type) throw std::invalid_argument("a field is not of the type that it should be");
}

std::string bytes_at(pbf_reader& reader) {
  expect(reader, pbf_wire_type::length_delimited);
  return reader.get_string();
}

pbf_reader message_at(pbf_reader& reader) {
  expect(reader, pbf_wire_type::length_delimited);
  return reader.get_message();
}

bool flag_at(pbf_reader& reader) {
  expect(reader, pbf_wire_type::varint);
  return reader.get_bool();
}

int32_t number_at(pbf_reader& reader) {
  expect(reader, pbf_wire_type::varint);
  return reader.get_enum();
}

SentencePiece read_piece(pbf_reader reader) {
  SentencePiece piece;
  while (reader.next()) {
    switch (reader.tag()) {
      case kPiece:
        piece.text = bytes_at(reader);
        break;
      case kScore:
        expect(reader, pbf_wire_type::fixed32);
        piece.score = reader.get_float();
        break;
      case kType:
        piece.kind = number_at(reader);
        break;
      default:
        reader.skip();
    }
  }
  return piece;
}

void read_trainer(pbf_reader reader, SentencePieceModel* out) {
  while (reader.next()) {
    switch (reader.tag()) {
      case kModelType:
        out->type = number_at(reader);
        break;
      case kBlankAsSuffix:
        out->blanks_end_words = flag_at(reader);
        break;
      case kByteFallback:
        out->byte_fallback = flag_at(reader);
        break;
      default:
        reader.skip();
    }
  }
}

void read_normalizer(pbf_reader reader, SentencePieceModel* out) {
  while (reader.next()) {
    switch (reader.tag()) {
      case kCharsmap:
        out->charsmap = bytes_at(reader);
        break;
      case kDummyPrefix:
        out->add_dummy_prefix = flag_at(reader);
        break;
      case kExtraBlanks:
        out->remove_extra_blanks = flag_at(reader);
        break;
      case kEscapeBlanks:
        out->escape_blanks = flag_at(reader);
        break;
      default:
        reader.skip();
    }
  }
}

}  // namespace

SentencePieceModel parse_sentencepiece(const std::string& bytes) {
  SentencePieceModel model;
  std::string where = "the file";
  try {
    pbf_reader reader(bytes);
    while (reader.next()) {
      switch (reader.tag()) {
        case kPieces:
          where = fmt::format("pieces[{}]", model.pieces.size());
          if (model.pieces.size() == text::kMaxVocabulary) throw std::invalid_argument("is one piece too many");
          model.pieces.push_back(read_piece(message_at(reader)));
          break;
        case kTrainerSpec:
          where = "trainer_spec";
          read_trainer(message_at(reader), &model);
          break;
        case kNormalizerSpec:
          where = "normalizer_spec";
          read_normalizer(message_at(reader), &model);
          break;
        default:
          reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    throw std::invalid_argument(
        fmt::format("{}: is cut short or damaged, or this is not a SentencePiece model", where));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}; is this a SentencePiece model?", where, error.what()));
  }
  return model;
}

}  // namespace bantam::convert
