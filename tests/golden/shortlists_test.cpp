// Shortlists: the words that a source's texts may have, against a direct evaluation of the original file; and invalid
// ones, which are refused. tests/cli/test_marian.py compares the texts that students generate with those of the plain
// network.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bantam/beams.h"
#include "bantam/sampling.h"
#include "golden/decoder.h"
#include "golden/model_bytes.h"
#include "tests/every_isa.h"
#include "tests/session/edit_file.h"

namespace bantam::golden::shortlists_test {
namespace {

struct Listed {
  const char* model;
  fb::DType weights;
  uint32_t sources, words;  // sizes of the vocabularies
  bool shared;
};

/// Reads lex.bin as Marian does.
std::set<uint32_t> listed_by_definition(const Listed& kind, const std::vector<int32_t>& ids) {
  std::ifstream stream(model_directory(kind.model) / "lex.bin", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  const auto* head = reinterpret_cast<const uint64_t*>(bytes.data());
  const uint64_t first = head[2], begins = head[4];
  const auto* lists = reinterpret_cast<const uint32_t*>(head + 6 + begins);
  std::set<uint32_t> found;
  for (uint32_t i = 0; i < first; ++i) found.insert(i);
  for (const int32_t id : ids) {
    const auto own = static_cast<uint32_t>(id);
    if (kind.shared && own < kind.words) found.insert(own);
    if (own < kind.sources) found.insert(lists + head[6 + own], lists + head[7 + own]);
  }
  for (auto i = static_cast<uint32_t>(first); i < kind.words && found.size() % 8 != 0; ++i) found.insert(i);
  return found;
}

class Shortlists : public ::testing::TestWithParam<Listed> {
 protected:
  static constexpr uint32_t kSources = 3, kLongest = 24;
  static SessionOptions options() {
    SessionOptions options;
    options.max_sequences = kSources;
    options.max_tokens = kLongest * kSources;
    options.max_context = kLongest;
    options.max_source = kLongest * kSources;
    return options;
  }
  /// Returns ids of a source, including the id after its words.
  static std::vector<int32_t> source(uint32_t count, uint32_t seed) {
    return random_tokens(count, seed, GetParam().sources + 1);
  }
  static int32_t start() { return static_cast<int32_t>(GetParam().words); }
};

TEST_P(Shortlists, AreThoseOfTheFile) {
  Decoder decoder(GetParam().model, GetParam().weights, options());
  EXPECT_EQ(decoder.session().shortlist(0).bits, nullptr);  // there is no source yet
  for (uint32_t round = 0; round < 20; ++round) {
    const std::vector<std::vector<int32_t>> sources = {source(1 + round % 7, round), source(round + 1, 50 + round),
                                                       source(2, 100 + round)};
    decoder.encode(sources);
    for (uint32_t i = 0; i < kSources; ++i) {
      const WordSet found = decoder.session().shortlist(i);
      const std::set<uint32_t> expected = listed_by_definition(GetParam(), sources[i]);
      ASSERT_NE(found.bits, nullptr);
      for (uint32_t word = 0; word < GetParam().words + 2; ++word) {
        EXPECT_EQ(found.has(word), expected.count(word) != 0) << round << ", " << i << ", " << word;
      }
    }
  }
  EXPECT_EQ(decoder.session().shortlist(kSources).bits, nullptr);
}

TEST_P(Shortlists, ChoicesAndProbabilitiesAreAmongThem) {
  const std::vector<int32_t> ids = source(4, 7);
  const std::set<uint32_t> listed = listed_by_definition(GetParam(), ids);
  Decoder decoder(GetParam().model, GetParam().weights, options());
  decoder.encode({source(3, 8), ids, source(3, 9)});
  Session& session = decoder.session();
  std::set<int32_t> chosen;
  double mass = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    ASSERT_EQ(session.truncate(0, 0), Status::kOk);
    decoder.run({{start()}}, {0}, true, {1});
    Sampling sampling;
    sampling.temperature = 5;
    sampling.seed = seed;
    sampling.log_probability = true;
    NextToken next;
    ASSERT_EQ(next_token(session, 0, sampling, &next), Status::kOk);
    EXPECT_EQ(listed.count(static_cast<uint32_t>(next.id)), 1U);
    if (chosen.insert(next.id).second) mass += std::exp(double{next.log_probability});
  }
  EXPECT_GT(chosen.size(), 4U);
  EXPECT_LT(mass, 1.0001);
  EXPECT_GT(mass, 0.9);

  BeamOptions beams;
  beams.beams = 3;
  beams.max_new = 6;
  std::vector<uint64_t> memory(BeamSearch::bytes(session, beams) / sizeof(uint64_t));
  BeamSearch search;
  const int32_t first = start();
  ASSERT_EQ(search.begin(&session, beams, &first, 1, 1, memory.data(), memory.size() * sizeof(uint64_t)), Status::kOk);
  for (bool done = false; !done;) ASSERT_EQ(search.step(&done), Status::kOk);
  for (uint32_t rank = 0; rank < search.count(); ++rank) {
    const BeamText text = search.text(rank);
    for (uint32_t i = 0; i < text.count; ++i) EXPECT_EQ(listed.count(static_cast<uint32_t>(text.ids[i])), 1U);
    EXPECT_GT(text.score, -1000.0F);
  }
}

/// Listed scores have the same bits as among all scores, whatever else is in the batch; the others are left out.
TEST_P(Shortlists, ListedScoresHaveTheSameBits) {
  const std::vector<std::vector<int32_t>> sources = {source(3, 8), source(9, 9), source(1, 10)};
  const std::vector<std::vector<int32_t>> texts = {{start(), 3, 2}, {start()}, {start(), 1, 4, 0, 2}};
  const std::vector<uint32_t> numbers = {1, 1, 0};
  const auto bits_of = [](float value) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  };
  const testing::Threads threads(3);
  for (const Isa isa : testing::every_isa()) {
    if (!isa_available(isa)) continue;
    for (const uint32_t workers : {1U, 3U}) {
      SessionOptions some = options();
      some.isa = isa;
      some.workers = workers;
      some.tile_rows = workers == 1 ? 0 : 4;
      some.parallel = workers == 1 ? nullptr : threads.get();
      Decoder decoder(GetParam().model, GetParam().weights, some);
      decoder.encode(sources);
      for (const bool last_rows : {false, true}) {
        std::vector<Bits> all;
        for (const bool listed : {false, true}) {
          for (uint32_t i = 0; i < texts.size(); ++i) ASSERT_EQ(decoder.session().truncate(i, 0), Status::kOk);
          std::vector<Bits> found = decoder.run(texts, {}, last_rows, numbers, listed);
          if (!listed) {
            all = std::move(found);
            continue;
          }
          for (uint32_t i = 0; i < texts.size(); ++i) {
            const WordSet words = decoder.session().shortlist(numbers[i]);
            const size_t width = GetParam().words + 1;
            ASSERT_EQ(found[i].size(), width * (last_rows ? 1 : texts[i].size()));
            for (size_t at = 0; at < found[i].size(); ++at) {
              const auto word = static_cast<uint32_t>(at % width);
              EXPECT_EQ(found[i][at], words.has(word) ? all[i][at] : bits_of(-3.0e38F)) << isa_name(isa) << ", " << at;
            }
          }
        }
      }
    }
  }
}

/// Forced tokens, and tokens that a constraint allows, need not be listed. If no token is left, the choice reports it.
TEST_P(Shortlists, OthersComeFirst) {
  const std::vector<int32_t> ids = source(4, 7);
  const std::set<uint32_t> listed = listed_by_definition(GetParam(), ids);
  int32_t other = start() - 1;
  while (listed.count(static_cast<uint32_t>(other)) != 0) --other;
  Decoder decoder(GetParam().model, GetParam().weights, options());
  decoder.encode({ids});
  const auto choice = [&](Sampling sampling, NextToken* next) {
    EXPECT_EQ(decoder.session().truncate(0, 0), Status::kOk);
    decoder.run({{start()}}, {}, true);
    sampling.prompt = 1;
    return next_token(decoder.session(), 0, sampling, next);
  };
  Sampling sampling;
  NextToken next;
  sampling.forced = other;
  sampling.log_probability = true;
  EXPECT_EQ(choice(sampling, &next), Status::kOk);
  EXPECT_EQ(next.id, other);
  EXPECT_GT(next.log_probability, -1000.0F);
  sampling.forced = -1;
  Constraint constraint;
  constraint.state = &other;
  constraint.follow = [](void*, const int32_t*, uint32_t, uint32_t, TextEnd*) { return Status::kOk; };
  constraint.allows = [](void* state, int32_t id) { return id == *static_cast<int32_t*>(state); };
  sampling.constraint = &constraint;
  EXPECT_EQ(choice(sampling, &next), Status::kOk);
  EXPECT_EQ(next.id, other);
  sampling.constraint = nullptr;
  const std::vector<int32_t> banned(listed.begin(), listed.end());
  sampling.banned = banned.data();
  sampling.banned_count = static_cast<uint32_t>(banned.size());
  for (const float temperature : {0.0F, 1.0F}) {
    sampling.temperature = temperature;
    EXPECT_EQ(choice(sampling, &next), Status::kNoTokenAllowed);
  }
}

const Listed kListed[] = {{"marian-ssru", fb::DType::f32, 38, 38, true},
                          {"marian-ssru", fb::DType::i8, 38, 38, true},
                          {"marian-ssru-apart", fb::DType::f32, 288, 288, false}};

INSTANTIATE_TEST_SUITE_P(Students, Shortlists, ::testing::ValuesIn(kListed), [](const auto& kind) {
  return std::string(kind.param.shared ? "shared" : "apart") + "_" + fb::EnumNameDType(kind.param.weights);
});

// ---------------------------------------------------------------------------------------- hostile files

using Edit = std::function<void(fb::ShortlistT& lists, uint32_t* begins, uint8_t* bytes)>;

void move_lists(fb::ShortlistT& lists, uint64_t offset, uint64_t size, uint32_t segment = 0) {
  *lists.lists = fb::Blob(offset, size, segment, 0);
}

const std::pair<const char*, Edit> kEdits[] = {
    {"no words", [](auto& lists, auto*, auto*) { lists.words = 0; }},
    {"more words than scores", [](auto& lists, auto*, auto*) { lists.words = 290; }},
    {"fewer words than lists name", [](auto& lists, auto*, auto*) { lists.words = 255; }},
    {"nothing that is always there", [](auto& lists, auto*, auto*) { lists.first = 0; }},
    {"all and more that is always there", [](auto& lists, auto*, auto*) { lists.first = lists.words + 1; }},
    {"a multiple of 0", [](auto& lists, auto*, auto*) { lists.multiple = 0; }},
    {"a large multiple", [](auto& lists, auto*, auto*) { lists.multiple = 1U << 20; }},
    {"more lists than ids", [](auto& lists, auto*, auto*) { lists.source_words = 290; }},
    {"a list less", [](auto& lists, auto*, auto*) { --lists.source_words; }},
    {"a list more", [](auto& lists, auto*, auto*) { ++lists.source_words; }},
    {"no lists", [](auto& lists, auto*, auto*) { lists.lists = nullptr; }},
    {"lists of no bytes", [](auto& lists, auto*, auto*) { move_lists(lists, lists.lists->offset(), 0); }},
    {"fewer bytes",
     [](auto& lists, auto*, auto*) { move_lists(lists, lists.lists->offset(), lists.lists->size() - 1); }},
    {"lists in another file",
     [](auto& lists, auto*, auto*) { move_lists(lists, lists.lists->offset(), lists.lists->size(), 1); }},
    {"lists behind the file",
     [](auto& lists, auto*, auto*) { move_lists(lists, UINT64_MAX - 3, lists.lists->size()); }},
    {"lists longer than the file", [](auto& lists, auto*, auto*) { move_lists(lists, 0, UINT64_MAX); }},
    {"a first list that does not begin", [](auto&, auto* begins, auto*) { begins[0] = 1; }},
    {"lists that go back", [](auto&, auto* begins, auto*) { begins[2] = begins[3] + 1; }},
    {"a list beyond the bytes", [](auto&, auto* begins, auto*) { begins[2] = UINT32_MAX; }},
    {"a word that ends in the next list", [](auto&, auto* begins, auto* bytes) { bytes[begins[1] - 1] |= 0x80; }},
    {"a word that there is not", [](auto&, auto*, auto* bytes) { bytes[1] = 0x7F; }},
    {"a word of five bytes",
     [](auto&, auto* begins, auto* bytes) {
       for (uint32_t i = 0; i < 8; ++i) bytes[i] = i < 7 ? 0x80 : 0;
       for (uint32_t i = 1; begins[i] < 8; ++i) begins[i] = 0;
     }},
};

TEST(HostileShortlists, AreRefusedWithAReason) {
  const std::vector<uint8_t> file = model_bytes("marian-ssru-apart", fb::DType::i8);
  Fault fault;
  ASSERT_EQ(open_bytes(testing::edit_file(file, [](auto&, auto&) {}), &fault), Status::kOk) << fault.what;
  for (const auto& [name, edit] : kEdits) {
    const auto apply = [&edit = edit](fb::ModelT& m, std::vector<uint8_t>& data) {
      fb::ShortlistT& lists = *m.task->shortlist;
      uint8_t* begins = data.data() + lists.lists->offset();
      edit(lists, reinterpret_cast<uint32_t*>(begins), begins + 4 * (size_t{lists.source_words} + 1));
    };
    EXPECT_EQ(open_bytes(testing::edit_file(file, apply), &fault), Status::kCorrupt) << name;
    EXPECT_NE(std::string(fault.what).find("shortlist"), std::string::npos) << name << ": " << fault.what;
  }
}

TEST(HostileShortlists, EndsAreListedAndDecodersHaveNone) {
  Fault fault;
  const auto other_end = [](fb::ModelT& m, std::vector<uint8_t>&) { m.task->end_ids = {0, 9}; };
  EXPECT_EQ(open_bytes(testing::edit_file(model_bytes("marian-ssru", fb::DType::i8), other_end), &fault),
            Status::kCorrupt);
  EXPECT_NE(std::string(fault.what).find("ends a text"), std::string::npos);
  const auto other_task = [](fb::ModelT& m, std::vector<uint8_t>&) {
    m.task->kind = fb::TaskKind::none;
    m.task->generations.clear();
  };
  EXPECT_EQ(open_bytes(testing::edit_file(model_bytes("marian-ssru", fb::DType::i8), other_task), &fault),
            Status::kCorrupt);
  EXPECT_NE(std::string(fault.what).find("generates"), std::string::npos) << fault.what;
  const auto lists = [](fb::ModelT& m, std::vector<uint8_t>&) {
    m.task->shortlist = std::make_unique<fb::ShortlistT>();
  };
  EXPECT_EQ(open_bytes(testing::edit_file(model_bytes("gpt2-generate", fb::DType::i8), lists), &fault),
            Status::kCorrupt);
}

}  // namespace
}  // namespace bantam::golden::shortlists_test
