// Chat templates in published forms, converted to plain texts: they give the same bytes as transformers for the same
// conversations (chat/make_expected.py). Other templates, and those that would take long, are refused.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tasks/chat.h"
#include "tokenizer/chat/chat.h"
#include "tokenizer/chat/jinja.h"

namespace bantam::golden::chat_test {
namespace {

using convert::Json;
using convert::jinja::Problem;

std::string folder() { return std::string(BANTAM_SOURCE_DIR) + "/tests/golden/chat/"; }

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(file) << path;
  return text.str();
}

const Json kTokens = {{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"pad_token", ""}, {"unk_token", ""}};

/// Renders a conversation with the plain texts and checks the status.
std::string rendered(const fb::ChatT& chat, const Json& messages, Status expected = Status::kOk) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::Chat::Pack(builder, &chat));
  const std::map<std::string, ChatRole> roles = {
      {"system", ChatRole::kSystem}, {"user", ChatRole::kUser}, {"assistant", ChatRole::kAssistant}};
  std::vector<ChatMessage> all;
  for (const Json& message : messages) {
    const auto& content = message.at("content").get_ref<const std::string&>();
    all.push_back({roles.at(message.at("role")), content.data(), content.size()});
  }
  std::string out;
  const auto append = [](void* target, const char* bytes, size_t size) {
    static_cast<std::string*>(target)->append(bytes, size);
  };
  EXPECT_EQ(render_conversation(*flatbuffers::GetRoot<fb::Chat>(builder.GetBufferPointer()), all.data(),
                                static_cast<uint32_t>(all.size()), append, &out),
            expected);
  return out;
}

std::string refusal(const std::string& text) {
  try {
    convert::read_chat(text, kTokens);
    return "";
  } catch (const Problem& problem) {
    return problem.what();
  }
}

std::string render(const std::string& text, const Json& variables = Json::object()) {
  return convert::jinja::render(*convert::jinja::parse(text), variables);
}

TEST(Chat, PublishedFormsMakeTheTextsOfTransformers) {
  std::ifstream lines(folder() + "expected.jsonl");
  size_t forms = 0, texts = 0;
  for (std::string line; std::getline(lines, line); ++forms) {
    const Json form = Json::parse(line);
    const std::string name = form.at("name");
    SCOPED_TRACE(name);
    const auto chat = convert::read_chat(text_of_file(folder() + name + ".jinja"), kTokens);
    for (const Json& one : form.at("cases")) {
      if (one.at("text").is_null()) {
        rendered(*chat, one.at("messages"), Status::kUnsupported);
      } else {
        EXPECT_EQ(rendered(*chat, one.at("messages")), one.at("text")) << one.dump();
        ++texts;
      }
    }
  }
  EXPECT_EQ(forms, 20U);
  EXPECT_GT(texts, 290U);
}

TEST(Chat, OnlyTurnsAreConversations) {
  fb::ChatT chat;
  chat.user_before = "U:";
  const auto message = [](const char* role) { return Json{{"role", role}, {"content", "x"}}; };
  const Json user = message("user"), assistant = message("assistant"), system = message("system");
  EXPECT_EQ(rendered(chat, Json::array({user})), "U:x");
  EXPECT_EQ(rendered(chat, Json::array({user, assistant, user})), "U:xxU:x");
  for (const Json& wrong :
       {Json::array(), Json::array({assistant}), Json::array({user, user}), Json::array({user, assistant}),
        Json::array({system}), Json::array({user, system, user}), Json::array({system, assistant})}) {
    EXPECT_EQ(rendered(chat, wrong, Status::kInvalidArgument), "") << wrong.dump();
  }
  EXPECT_EQ(rendered(chat, Json::array({system, user}), Status::kUnsupported), "");
}

TEST(Chat, NotesNameTemplatesThatChangeThoughtsInOtherWays) {
  const auto notes_of = [](const std::string& content) {
    convert::TokenizerFiles files;
    files.chat = "{% for m in messages %}{% if m.role == 'assistant' %}A:{{ " + content +
                 " }}|{% else %}U:{{ m.content }}|{% endif %}{% endfor %}{% if add_generation_prompt %}A:{% endif %}";
    convert::Graph graph;
    graph.model.task = std::make_unique<fb::TaskT>();
    convert::add_chat(graph, files);
    EXPECT_NE(graph.model.task->chat, nullptr);
    return graph.notes;
  };
  EXPECT_TRUE(notes_of("m.content").empty());
  EXPECT_TRUE(notes_of("m.content.split('</think>')[-1]").empty());
  const std::vector<std::string> notes = notes_of("m.content.split('<think>')[0]");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("<think>"), std::string::npos) << notes[0];
}

TEST(Chat, OtherTemplatesAreNotTaken) {
  EXPECT_NE(refusal("{% for m in messages %}{{ loop.index }}: {{ m.content }}\n{% endfor %}"), "");
  EXPECT_NE(refusal("{% for m in messages %}{{ m.content | upper }}\n{% endfor %}"), "");
  EXPECT_NE(refusal("{% for m in messages | reverse %}{{ m.content }}{% endfor %}"), "");
  EXPECT_NE(refusal("{{ messages[0].content }}"), "");
  EXPECT_NE(refusal("nothing"), "");
  EXPECT_NE(refusal("{{ raise_exception('no') }}"), "");
  // Text that depends on the content of messages.
  EXPECT_NE(refusal("{% for m in messages %}{{ m.content }}{% if '\n' in m.content %}!{% endif %}|{% endfor %}"), "");
}

TEST(Jinja, KnowsWhatTemplatesUse) {
  EXPECT_EQ(render("a {# not\nthis #}b"), "a b");
  EXPECT_EQ(render("x  {%- if true -%}  y  {%- endif -%}  z"), "xyz");
  EXPECT_EQ(render("  {% if true %}\ny\n  {% endif %}\nz"), "y\nz");
  EXPECT_EQ(render("{{ 'it''s' ~ 1 + 2 }}|{{ \"a\\n\" }}|{{ none }}|{{ missing }}"), "its3|a\n|None|");
  EXPECT_EQ(render("{% for a in [1, 2, 3] if a != 2 %}{{ a }}{{ ',' if not loop.last }}{% else %}!{% endfor %}"),
            "1,3");
  EXPECT_EQ(render("{% for a in [] %}x{% else %}none{% endfor %}"), "none");
  EXPECT_EQ(render("{% set n = namespace(i=1) %}{% for a in [1, 2] %}{% set n.i = n.i + a %}{% endfor %}{{ n.i }}"),
            "4");
  EXPECT_EQ(render("{% set i = 1 %}{% for a in [5] %}{% set i = a %}{% endfor %}{{ i }}"), "1");
  EXPECT_EQ(render("{% set x %}b{{ 1 }}{% endset %}a{{ x }}"), "ab1");
  EXPECT_EQ(render("{{ 'abc'[1:] }}{{ [1, 2, 3][-1] }}{{ 'a-b'.split('-')[1] }}{{ ' x '.strip() | length }}"), "bc3b1");
  EXPECT_EQ(render("{{ 'a' in 'cat' and 'b' not in ['a'] }}{{ x is defined }}{{ 5 % 3 == 2 or false }}"),
            "TrueFalseTrue");
  EXPECT_EQ(render("{% for k, v in {'a': 1}.items() %}{{ k }}={{ v }}{% endfor %}"), "a=1");
}

TEST(Jinja, RefusesWhatItDoesNotKnowAndEndsSoon) {
  for (const char* text : {"{{",
                           "{{ }}",
                           "{% if %}",
                           "{% if true %}",
                           "{% endif %}",
                           "{% for %}{% endfor %}",
                           "{% for a in 3 b %}{% endfor %}",
                           "{{ 'a }}",
                           "{{ a. }}",
                           "{{ f(1 }}",
                           "{{ [1, }}",
                           "{{ {'a' 1} }}",
                           "{% include 'x' %}",
                           "{% macro f() %}{% endmacro %}",
                           "{{ a b }}",
                           "{{ 1 // 0 }}",
                           "{{ missing.attribute }}",
                           "{{ 'a' + 1 }}",
                           "{{ open('x') }}",
                           "{{ 'a' | system }}",
                           "{{ 'a'.format(1) }}",
                           "{{ range(99999999) }}",
                           "{% for i in 'text' %}{% endfor %}",
                           "{# ",
                           "{{ 1.2.3 }}",
                           "{{ 9999999999 * 9999999999 }}"}) {
    EXPECT_THROW(render(text), Problem) << text;
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "(";
  EXPECT_THROW(render("{{ " + deep), Problem);
  std::string chain = "{{ 1", reach = "{{ a", tests = "{{ 1", filters = "{{ 1", choices = "{% if false %}";
  for (int i = 0; i < 100000; ++i) {
    chain += " + 1";
    reach += "[0]";
    tests += " is defined";
    filters += " | string";
    choices += "{% elif false %}";
  }
  for (const std::string& text :
       {chain + " }}", reach + " }}", tests + " }}", filters + " }}", choices + "{% endif %}"}) {
    EXPECT_THROW(render(text), Problem) << text.substr(0, 20);
  }
  std::string nested;
  for (int i = 0; i < 5000; ++i) nested += "{% if true %}";
  EXPECT_THROW(render(nested), Problem);
  const std::string loops =
      "{% for a in range(4000) %}{% for b in range(4000) %}{% for c in range(4000) %}{% endfor %}{% endfor %}{% endfor "
      "%}";
  EXPECT_THROW(render(loops), Problem);
  EXPECT_THROW(
      render("{% set n = namespace(t='xxxxxxxx') %}{% for a in range(60) %}{% set n.t = n.t + n.t %}{% endfor %}"),
      Problem);
}

}  // namespace
}  // namespace bantam::golden::chat_test
