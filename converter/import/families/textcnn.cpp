// TextCNN (Kim 2014, arXiv 1408.5882): words' vectors, convolutions over neighbouring words, and a head. No library writes such
// directories: docs/textcnn.md says what stands in them.
#include "import/families/blocks.h"

namespace bantam::convert {

Family textcnn() {
  Family family = above_words("textcnn", "TextCnn");
  family.block.convolutions = true;
  return family;
}

}  // namespace bantam::convert
