// The tokenizer as in firmware (BANTAM_FIRMWARE), in its own library beside the host's.
#ifndef BANTAM_TESTS_TEXT_SMALL_ENCODER_H_
#define BANTAM_TESTS_TEXT_SMALL_ENCODER_H_

#include "bantam/tokenizer.h"

extern "C" {

/// verify_tokenizer and Tokenizer::encode over tables in the caller's memory: `table` is an fb::Tokenizer.
bantam::Status small_verify(const void* table, const uint8_t* data, uint64_t data_size);
bantam::Status small_encode(const void* table, const uint8_t* data, bantam::Text first, bantam::Text second,
                            const bantam::EncodeOptions& options, const bantam::TokenBuffer& out,
                            bantam::EncodeResult* result);
}

#endif  // BANTAM_TESTS_TEXT_SMALL_ENCODER_H_
