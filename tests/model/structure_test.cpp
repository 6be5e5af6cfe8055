// The runtime's structural verifier against FlatBuffers': the same schema, the same verdicts.
#include "model/structure.h"

#include <flatbuffers/reflection.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "tests/effort.h"
#include "tests/session/bert.h"

namespace bantam::testing::structure_test {
namespace {

// ------------------------------------------------------------------------------------------- schema

uint8_t leaf(reflection::BaseType type) {
  switch (flatbuffers::GetTypeSize(type)) {
    case 1:
      return structure::kBytes1;
    case 2:
      return structure::kBytes2;
    case 4:
      return structure::kBytes4;
    default:
      return structure::kBytes8;
  }
}

uint8_t vector_of(size_t size) {
  const std::map<size_t, uint8_t> codes = {{1, structure::kVector1},   {2, structure::kVector2},
                                           {4, structure::kVector4},   {8, structure::kVector8},
                                           {12, structure::kVector12}, {16, structure::kVector16}};
  return codes.at(size);
}

/// Returns the code for flatc's description of a field; the number of a table is left out and stored in `object`.
uint8_t expected(const reflection::Schema& schema, const reflection::Field& field, int* object) {
  const reflection::Type& type = *field.type();
  const uint8_t required_leaf = field.required() ? structure::kRequiredLeaf : structure::kLeaf;
  *object = -1;
  const auto is_struct = [&](int32_t index) {
    return schema.objects()->Get(static_cast<uint32_t>(index))->is_struct();
  };
  switch (type.base_type()) {
    case reflection::String:
      return required_leaf | structure::kString;
    case reflection::Union:
      return required_leaf | structure::kUnion;
    case reflection::Obj:
      if (is_struct(type.index())) {
        const auto* s = schema.objects()->Get(static_cast<uint32_t>(type.index()));
        const int bytes = s->bytesize();
        EXPECT_TRUE(bytes == 8 || bytes == 16 || bytes == 24);
        EXPECT_EQ(s->minalign(), bytes == 24 ? 8 : 4);
        return required_leaf | (bytes == 8    ? structure::kStruct8
                                : bytes == 16 ? structure::kStruct16
                                              : structure::kStruct24);
      }
      EXPECT_FALSE(field.required());
      *object = type.index();
      return structure::kTable;
    case reflection::Vector:
      if (type.element() == reflection::String) return required_leaf | structure::kStrings;
      if (type.element() != reflection::Obj) {
        return required_leaf | vector_of(flatbuffers::GetTypeSize(type.element()));
      }
      if (is_struct(type.index())) {
        const int32_t bytes = schema.objects()->Get(static_cast<uint32_t>(type.index()))->bytesize();
        return required_leaf | vector_of(static_cast<size_t>(bytes));
      }
      *object = type.index();
      return field.required() ? structure::kRequiredTables : structure::kTables;
    default:
      EXPECT_FALSE(field.required());
      return leaf(type.base_type());
  }
}

TEST(Structure, IsTheSchemaOfFlatc) {
  std::ifstream stream(BANTAM_BFBS, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  const reflection::Schema& schema = *reflection::GetSchema(bytes.data());
  const structure::Schema ours = structure::schema();
  std::map<int, uint32_t> number;  // maps flatc's objects to our types
  std::vector<int> todo;
  const auto meet = [&](int object, uint32_t type) {
    const auto [place, is_new] = number.emplace(object, type);
    EXPECT_EQ(place->second, type) << schema.objects()->Get(static_cast<uint32_t>(object))->name()->str();
    if (is_new) todo.push_back(object);
  };
  for (uint32_t i = 0; i < schema.objects()->size(); ++i) {
    if (schema.objects()->Get(i) == schema.root_table() ||
        schema.objects()->Get(i)->name()->str() == schema.root_table()->name()->str()) {
      meet(static_cast<int>(i), 0);
    }
  }
  while (!todo.empty()) {
    const reflection::Object& object = *schema.objects()->Get(static_cast<uint32_t>(todo.back()));
    const uint32_t type = number.at(todo.back());
    todo.pop_back();
    ASSERT_LT(type, ours.types);
    const uint32_t begin = ours.begin[type];
    ASSERT_EQ(ours.begin[type + 1] - begin, object.fields()->size()) << object.name()->str();
    for (const reflection::Field* field : *object.fields()) {
      const std::string where = object.name()->str() + "." + field->name()->str();
      const uint8_t code = ours.fields[begin + field->id()];
      ASSERT_EQ(field->offset(), 4 + 2 * field->id()) << where;
      int target = -1;
      const uint8_t want = expected(schema, *field, &target);
      if (target < 0) {
        EXPECT_EQ(code, want) << where;
      } else {
        EXPECT_EQ(code & structure::kFormMask, want) << where;
        meet(target, code & 0x3Fu);
      }
      if (field->type()->base_type() == reflection::Union) {
        const reflection::Enum& u = *schema.enums()->Get(static_cast<uint32_t>(field->type()->index()));
        EXPECT_EQ(u.values()->size(), ours.union_members + 1);
        for (const reflection::EnumVal* value : *u.values()) {
          if (value->value() == 0) continue;
          meet(value->union_type()->index(), ours.union_base + static_cast<uint32_t>(value->value()));
        }
      }
    }
  }
  EXPECT_EQ(number.size(), ours.types);  // all are reached
}

// ------------------------------------------------------------------------------------------ verdicts

/// Returns the verdict of FlatBuffers' own verifier.
bool reference(const uint8_t* bytes, size_t size) {
  flatbuffers::Verifier::Options options;
  options.max_depth = structure::kMaxDepth;
  options.max_tables = static_cast<flatbuffers::uoffset_t>(size / structure::kLeastTableBytes);
  flatbuffers::Verifier verifier(bytes, size, options);
  return fb::VerifyModelBuffer(verifier);
}

struct Graph {
  std::vector<uint64_t> storage;
  size_t size = 0;

  explicit Graph(const fb::ModelT& model) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(fb::Model::Pack(builder, &model), fb::ModelIdentifier());
    size = builder.GetSize();
    storage.resize(size / 8 + 1);
    std::memcpy(storage.data(), builder.GetBufferPointer(), size);
  }
  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(storage.data()); }
};

/// A model that uses every table, so that damage tests every rule.
fb::ModelT full_model() {
  BertShape shape;
  shape.layers = 1;
  shape.hidden = 16;
  shape.heads = 2;
  shape.ffn = 16;
  shape.vocabulary = 8;
  fb::ModelT m = build(random_bert(shape, 1), WeightType::kI8).model;
  m.tool = "test";
  m.properties.push_back(std::make_unique<fb::PropertyT>());
  m.properties[0]->key = "key";
  m.properties[0]->value = "value";
  m.tensors[0]->tag = std::make_unique<fb::Tag>(0, fb::Part::attention, 0, 0);
  m.tensors[0]->source = {"a", "source", ""};
  auto tokenizer = std::make_unique<fb::TokenizerT>();
  tokenizer->name = "words";
  tokenizer->normalizers.push_back(std::make_unique<fb::NormalizerT>());
  tokenizer->normalizers[0]->lowercase = true;
  tokenizer->splitters.push_back(std::make_unique<fb::SplitterT>());
  tokenizer->model = std::make_unique<fb::TokenModelT>();
  tokenizer->model->continuing_prefix = "##";
  tokenizer->blobs.push_back(std::make_unique<fb::TokenizerBlobT>());
  tokenizer->blobs[0]->data = std::make_unique<fb::Blob>(0, 64, 0, 0);
  tokenizer->single = {fb::TemplatePiece(1, -1, 0), fb::TemplatePiece(-1, 0, 0)};
  tokenizer->added_tokens.push_back(std::make_unique<fb::AddedTokenT>());
  tokenizer->added_tokens[0]->text = "[CLS]";
  m.tokenizers.push_back(std::move(tokenizer));
  const auto add = [&](fb::OpAttributesUnion attributes) {
    auto op = std::make_unique<fb::OpT>();
    op->attributes = std::move(attributes);
    op->features = {"feature"};
    m.subgraphs[0]->ops.push_back(std::move(op));
  };
  add(attributes(fb::RowT{}));
  add(attributes(fb::SliceT{}));
  m.subgraphs[0]->ops.back()->tag = std::make_unique<fb::Tag>(1, fb::Part::head, 0, 0);
  m.subgraphs[0]->ops.back()->integer = std::make_unique<fb::IntegerT>();
  return m;
}

struct Count {
  size_t accepted = 0;
  size_t refused = 0;
};

/// Both verifiers must agree on the bytes as they are. With 32-bit pointers, FlatBuffers' verifier lets an element's
/// offset of 2^31 or more wrap back into the buffer, so it may accept what ours refuses, but not the reverse.
void compare(Graph& graph, size_t size, Count* count, const std::string& where) {
  const bool well_formed = structure::is_well_formed(graph.bytes(), size);
  const bool theirs = reference(graph.bytes(), size);
  if (sizeof(void*) > 4 || well_formed) {
    ASSERT_EQ(well_formed, theirs) << where;
  }
  ++(well_formed ? count->accepted : count->refused);
}

constexpr int kRounds = rounds(60000, 5000);

TEST(Structure, EveryByteOfEveryValueThatMatters) {
  Graph graph(full_model());
  Count count;
  for (size_t i = 0; i < graph.size; ++i) {
    const uint8_t before = graph.bytes()[i];
    for (const int delta : {1, 2, 3, 4, 8, 16, 64, 128, 255, 254, 252}) {
      graph.bytes()[i] = static_cast<uint8_t>(before + delta);
      ASSERT_NO_FATAL_FAILURE(compare(graph, graph.size, &count, "byte " + std::to_string(i)));
    }
    graph.bytes()[i] = before;
  }
  EXPECT_TRUE(structure::is_well_formed(graph.bytes(), graph.size));
  EXPECT_GT(count.accepted, graph.size);
  EXPECT_GT(count.refused, graph.size);
}

TEST(Structure, WordsAndCopies) {
  Graph graph(full_model());
  const std::vector<uint64_t> sound = graph.storage;
  std::mt19937 random(9);
  Count count;
  const uint32_t words[] = {0, 1, 4, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, static_cast<uint32_t>(graph.size)};
  for (int round = 0; round < kRounds; ++round) {
    const size_t changes = 1 + random() % 3;
    for (size_t c = 0; c < changes; ++c) {
      const size_t at = random() % (graph.size / 4) * 4;
      uint32_t word = words[random() % std::size(words)] + static_cast<uint32_t>(random() % 3);
      if (random() % 2 == 0) word = static_cast<uint32_t>(random() % graph.size);
      if (random() % 3 == 0) std::memcpy(&word, graph.bytes() + random() % (graph.size - 4), 4);
      std::memcpy(graph.bytes() + at, &word, random() % 2 == 0 ? 4 : 2);
    }
    ASSERT_NO_FATAL_FAILURE(compare(graph, graph.size, &count, "round " + std::to_string(round)));
    graph.storage = sound;
  }
  EXPECT_GT(count.accepted, 100u);
  EXPECT_GT(count.refused, 100u);
}

TEST(Structure, EveryLength) {
  Graph graph(full_model());
  Count count;
  for (size_t size = 0; size <= graph.size; ++size) {
    // Exact size, so that sanitizers detect reading the first byte beyond.
    auto* bytes = static_cast<uint8_t*>(::operator new (size == 0 ? 1 : size, std::align_val_t{64}));
    std::memcpy(bytes, graph.bytes(), size);
    const bool well_formed = structure::is_well_formed(bytes, size);
    EXPECT_EQ(well_formed, size >= 8 && reference(bytes, size)) << size;
    ++(well_formed ? count.accepted : count.refused);
    ::operator delete (bytes, std::align_val_t{64});
  }
  EXPECT_GT(count.refused, graph.size / 2);
  EXPECT_GE(count.accepted, 1u);
}

/// Returns a model of `tensors` tensors with the same name, each with a `source` of `strings` strings; they share one
/// table and one vector.
flatbuffers::FlatBufferBuilder many_strings(uint32_t tensors, uint32_t strings, const std::string& text = "name") {
  flatbuffers::FlatBufferBuilder builder;
  const auto name = builder.CreateString(text);
  const auto source = builder.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>(strings, name));
  const auto shape = builder.CreateVectorOfStructs(std::vector<fb::Dim>{fb::Dim(-1, 0, 1, 1)});
  fb::TensorBuilder tensor(builder);
  tensor.add_name(name);
  tensor.add_shape(shape);
  tensor.add_source(source);
  const auto list = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Tensor>>(tensors, tensor.Finish()));
  const auto symbols = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Symbol>>{});
  const auto subgraphs = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Subgraph>>{});
  fb::ModelBuilder model(builder);
  model.add_symbols(symbols);
  model.add_tensors(list);
  model.add_subgraphs(subgraphs);
  builder.Finish(model.Finish(), fb::ModelIdentifier());
  return builder;
}

TEST(Structure, ManyStringsInFewBytes) {
  const auto well_formed = [](const flatbuffers::FlatBufferBuilder& builder) {
    return structure::is_well_formed(builder.GetBufferPointer(), builder.GetSize());
  };
  EXPECT_TRUE(well_formed(many_strings(1, 10)));
  EXPECT_FALSE(well_formed(many_strings(500, 500)));  // 250,000 strings in 4 KB, each of which is verified
}

TEST(Structure, ManyEmptyStringsInFewBytes) {
  // A vector that only one table uses is not a copy. The verifier reads each of its strings.
  const flatbuffers::FlatBufferBuilder builder = many_strings(1, 1000, "");
  EXPECT_FALSE(structure::is_well_formed(builder.GetBufferPointer(), builder.GetSize()));
}

TEST(Structure, LongStringsSharedByMany) {
  const auto well_formed = [](const flatbuffers::FlatBufferBuilder& builder) {
    return structure::is_well_formed(builder.GetBufferPointer(), builder.GetSize());
  };
  const std::string text(100000, 'x');
  EXPECT_TRUE(well_formed(many_strings(1, 2, text)));
  EXPECT_FALSE(well_formed(many_strings(1000, 0, text)));  // listing the tensors' names would print 100 MB
  EXPECT_FALSE(well_formed(many_strings(1, 1000, text)));
}

/// A buffer that a test changes word by word.
struct Words {
  std::vector<uint64_t> storage;
  size_t size;

  /// Copies the bytes of `builder`, with those after the identifier moved by `moved` bytes: only the root's offset
  /// crosses this gap.
  Words(const flatbuffers::FlatBufferBuilder& builder, size_t moved)
      : storage((builder.GetSize() + moved) / 8 + 1), size(builder.GetSize() + moved) {
    std::memcpy(bytes(), builder.GetBufferPointer(), 8);
    std::memcpy(bytes() + 8 + moved, builder.GetBufferPointer() + 8, builder.GetSize() - 8);
    set(0, get(0) + static_cast<uint32_t>(moved));
  }
  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(storage.data()); }
  uint32_t get(size_t at) {
    uint32_t word = 0;
    std::memcpy(&word, bytes() + at, 4);
    return word;
  }
  void set(size_t at, uint32_t word) { std::memcpy(bytes() + at, &word, 4); }
  bool is_well_formed() { return structure::is_well_formed(bytes(), size); }
};

/// A string without an end, in a buffer whose first byte would be its terminating zero if the address wrapped around.
TEST(Structure, AStringLiesInside) {
  const flatbuffers::FlatBufferBuilder builder = many_strings(1, 0);
  Words words(builder, 256 - Words(builder, 0).get(0));
  ASSERT_EQ(words.get(0), 256u);
  ASSERT_TRUE(words.is_well_formed());
  const auto* name = reinterpret_cast<const uint8_t*>(fb::GetModel(words.bytes())->tensors()->Get(0)->name());
  words.set(static_cast<size_t>(name - words.bytes()), 0xFFFFFFF0u);
  EXPECT_FALSE(words.is_well_formed());
}

/// The root's offset is invalid; interpreted as a table, the beginning of the buffer would have everything that a model
/// needs.
TEST(Structure, TheRootIsNoTableAtTheBeginning) {
  const flatbuffers::FlatBufferBuilder builder = many_strings(1, 0);
  Words words(builder, 0);
  const uint32_t root = words.get(0);
  // Repeats the root's vtable at the end, with field offsets relative to the beginning.
  const auto vtable = static_cast<uint32_t>((words.size + 3) / 4 * 4);
  const auto* own = reinterpret_cast<const flatbuffers::Table*>(words.bytes() + root)->GetVTable();
  const auto bytes = flatbuffers::ReadScalar<uint16_t>(own);
  std::vector<uint16_t> entries(bytes / 2u);
  std::memcpy(entries.data(), own, bytes);
  for (size_t i = 2; i < entries.size(); ++i) {
    if (entries[i] != 0) entries[i] = static_cast<uint16_t>(entries[i] + root);
  }
  words.size = vtable + bytes;
  words.storage.resize(words.size / 8 + 1);
  std::memcpy(words.bytes() + vtable, entries.data(), bytes);
  ASSERT_TRUE(words.is_well_formed());
  words.set(0, 0u - vtable);
  EXPECT_FALSE(words.is_well_formed());
}

/// The attributes field holds an offset even in an op without attributes.
TEST(Structure, AttributesOfNoKindLieInside) {
  Graph graph(full_model());
  const auto* table =
      reinterpret_cast<const flatbuffers::Table*>(fb::GetModel(graph.bytes())->subgraphs()->Get(0)->ops()->Get(0));
  uint8_t* type = graph.bytes() + (table->GetAddressOf(fb::Op::VT_ATTRIBUTES_TYPE) - graph.bytes());
  uint8_t* offset = graph.bytes() + (table->GetAddressOf(fb::Op::VT_ATTRIBUTES) - graph.bytes());
  *type = 0;
  EXPECT_TRUE(structure::is_well_formed(graph.bytes(), graph.size));
  const auto beyond = static_cast<uint32_t>(graph.size - 1);
  std::memcpy(offset, &beyond, 4);
  EXPECT_FALSE(structure::is_well_formed(graph.bytes(), graph.size));
  EXPECT_FALSE(reference(graph.bytes(), graph.size));
}

TEST(Structure, OffsetsReachNoFurtherThanTwoGigabytes) {
  Graph graph(full_model());
  EXPECT_FALSE(structure::is_well_formed(graph.bytes(), (uint64_t{1} << 32) + graph.size));
}

TEST(Structure, ManyTablesInFewBytes) {
  // All elements of a long vector refer to one table: small to store, expensive to verify.
  fb::ModelT m = full_model();
  Graph plain(m);
  flatbuffers::FlatBufferBuilder builder;
  const auto key = builder.CreateString("key");
  const auto property = fb::CreateProperty(builder, key, key);
  const std::vector<flatbuffers::Offset<fb::Property>> same(100000, property);
  const auto properties = builder.CreateVector(same);
  const auto none = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Symbol>>{});
  const auto tensors = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Tensor>>{});
  const auto subgraphs = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Subgraph>>{});
  fb::ModelBuilder model(builder);
  model.add_symbols(none);
  model.add_tensors(tensors);
  model.add_subgraphs(subgraphs);
  model.add_properties(properties);
  builder.Finish(model.Finish(), fb::ModelIdentifier());
  EXPECT_FALSE(structure::is_well_formed(builder.GetBufferPointer(), builder.GetSize()));
  EXPECT_FALSE(reference(builder.GetBufferPointer(), builder.GetSize()));
}

}  // namespace
}  // namespace bantam::testing::structure_test
