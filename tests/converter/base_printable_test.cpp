// Untrusted text must not be able to harm a terminal, a shell or a page.
#include "base/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace bantam::convert {
namespace {

TEST(Printable, LeavesWordsAlone) {
  for (const char* text : {"", "plain \"quoted\" \\ back", "caf\u00e9 \u4f60\u597d \U0001F600", "a\u00a0b"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, NothingReachesTheTerminal) {
  EXPECT_EQ(printable("a\x1b]0;title\x07"
                      "b"),
            "a\\u001b]0;title\\u0007b");
  EXPECT_EQ(printable("x\nbantam: forged"), "x\\nbantam: forged");
  EXPECT_EQ(printable("x\r\ty\x7f"), "x\\r\\ty\\u007f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\u0000b");
  EXPECT_EQ(printable("\u009b2J\u009d0;x"), "\\u009b2J\\u009d0;x");                     // CSI and OSC of C1
  EXPECT_EQ(printable("\u202egnp.exe\u2066a\u2069"), "\\u202egnp.exe\\u2066a\\u2069");  // right-to-left override
  EXPECT_EQ(printable("a\u2028b"), "a\\u2028b");
  EXPECT_EQ(printable("\x9b[2J\xff\xe4\xbd"), "\ufffd[2J\ufffd\ufffd");
  EXPECT_EQ(printable_lines("one\ntwo\x1b"), "one\ntwo\\u001b");
}

TEST(Printable, ShellWords) {
  EXPECT_EQ(shell_word("models/voice-1.bantam"), "models/voice-1.bantam");
  EXPECT_EQ(shell_word("a\"$(touch x)b.bantam"), "'a\"$(touch x)b.bantam'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("-rf"), "./'-rf'");
  EXPECT_EQ(shell_word("a\nb"), "'a\\nb'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(Printable, Markdown) {
  EXPECT_EQ(markdown_text("MiniLM v2"), "MiniLM v2");
  EXPECT_EQ(markdown_text("```sh\ncurl x|sh"), "\\`\\`\\`sh\\\\ncurl x\\|sh");
  EXPECT_EQ(markdown_text("[a](http://x)<b>"), "\\[a\\](http://x)\\<b\\>");
}

}  // namespace
}  // namespace bantam::convert
