#include "train/augment.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "train/random.h"

namespace bantam::train {
namespace {

using Value = std::vector<std::string>;

struct Slot {
  std::string name;  // empty: words outside slots
  size_t begin = 0, end = 0;
};

/// Splits a sentence into slots and the words between them.
std::vector<Slot> slots_of(const TaggedWords& sentence) {
  std::vector<Slot> slots;
  for (size_t i = 0; i < sentence.tags.size(); ++i) {
    const std::string& tag = sentence.tags[i];
    const std::string name = tag.size() > 2 && tag[1] == '-' ? tag.substr(2) : "";
    const bool goes_on = !slots.empty() && slots.back().name == name && (name.empty() || tag[0] == 'I');
    if (goes_on) {
      slots.back().end = i + 1;
    } else {
      slots.push_back({name, i, i + 1});
    }
  }
  return slots;
}

using Pool = std::map<std::string, std::vector<Value>>;

Pool values_of(const std::vector<TaggedWords>& sentences) {
  std::map<std::string, std::set<Value>> found;
  for (const TaggedWords& sentence : sentences) {
    for (const Slot& slot : slots_of(sentence)) {
      if (slot.name.empty()) continue;
      found[slot.name].insert(Value(sentence.words.begin() + static_cast<std::ptrdiff_t>(slot.begin),
                                    sentence.words.begin() + static_cast<std::ptrdiff_t>(slot.end)));
    }
  }
  Pool pool;
  for (auto& [name, values] : found) pool[name].assign(values.begin(), values.end());
  return pool;
}

Value draw(const std::vector<Value>& values, Random& random) {
  const Value& first = values[random.below(values.size())];
  const Value& second = values[random.below(values.size())];
  if (first.size() < 2 || second.size() < 2 || random.below(4) != 0) return first;
  Value mixed(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(1 + random.below(first.size() - 1)));
  mixed.insert(mixed.end(), second.begin() + static_cast<std::ptrdiff_t>(1 + random.below(second.size() - 1)),
               second.end());
  return mixed;
}

TaggedWords replaced(const TaggedWords& sentence, const std::vector<Slot>& slots, const Pool& pool, double rate,
                     Random& random) {
  std::vector<bool> chosen(slots.size(), false);
  std::vector<size_t> named;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].name.empty()) continue;
    named.push_back(i);
    chosen[i] = random.fraction() < rate;
  }
  chosen[named[random.below(named.size())]] = true;
  TaggedWords out;
  out.origin = sentence.origin;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!chosen[i]) {
      for (size_t w = slots[i].begin; w < slots[i].end; ++w) {
        out.words.push_back(sentence.words[w]);
        out.tags.push_back(sentence.tags[w]);
      }
      continue;
    }
    const Value value = draw(pool.at(slots[i].name), random);
    for (size_t w = 0; w < value.size(); ++w) {
      out.words.push_back(value[w]);
      out.tags.push_back((w == 0 ? "B-" : "I-") + slots[i].name);
    }
  }
  return out;
}

/// Returns a random run of consecutive words of `words`, which must not be empty.
Words run_of(const Words& words, Random& random) {
  const size_t length = 1 + random.below(words.size());
  const size_t begin = random.below(words.size() - length + 1);
  return {words.begin() + static_cast<std::ptrdiff_t>(begin),
          words.begin() + static_cast<std::ptrdiff_t>(begin + length)};
}

}  // namespace

std::vector<TaggedWords> substitute_slots(const std::vector<TaggedWords>& sentences, uint32_t copies, double rate,
                                          uint64_t seed) {
  const Pool pool = values_of(sentences);
  Random random(seed, 0x736c6f74);
  std::vector<TaggedWords> out;
  for (uint32_t copy = 0; copy < copies; ++copy) {
    for (const TaggedWords& sentence : sentences) {
      const std::vector<Slot> slots = slots_of(sentence);
      const bool any = std::any_of(slots.begin(), slots.end(), [](const Slot& slot) { return !slot.name.empty(); });
      if (any) out.push_back(replaced(sentence, slots, pool, rate, random));
    }
  }
  return out;
}

std::vector<Words> vary_texts(const std::vector<Words>& texts, uint32_t copies, double rate, uint64_t seed) {
  std::set<std::string> different;
  std::vector<const Words*> sources;
  for (const Words& text : texts) {
    different.insert(text.begin(), text.end());
    if (!text.empty()) sources.push_back(&text);
  }
  const Words vocabulary(different.begin(), different.end());
  Random random(seed, 0x74657874);
  std::vector<Words> out;
  for (uint32_t copy = 0; copy < copies; ++copy) {
    for (const Words* text : sources) {
      Words words = random.below(2) == 0 ? run_of(*text, random) : *text;
      if (random.below(4) == 0) {
        const Words more = run_of(*sources[random.below(sources.size())], random);
        words.insert(words.end(), more.begin(), more.end());
      }
      for (std::string& word : words) {
        if (random.fraction() < rate) word = vocabulary[random.below(vocabulary.size())];
      }
      out.push_back(std::move(words));
    }
  }
  return out;
}

}  // namespace bantam::train
