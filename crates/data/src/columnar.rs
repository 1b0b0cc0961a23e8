//! Numbers in columns as a Parquet file: one row group, one plain page a column, nothing compressed. Figures of a run
//! are few; what counts is that every tool reads them.

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers, all there.
    Integers(Vec<i64>),
    /// Numbers, some of which may be missing.
    Numbers(Vec<Option<f64>>),
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Column::Integers(values) => values.len(),
            Column::Numbers(values) => values.len(),
        }
    }

    /// The format's number of the type.
    fn kind(&self) -> i32 {
        match self {
            Column::Integers(_) => 2,
            Column::Numbers(_) => 5,
        }
    }

    /// Whether values may be missing.
    fn optional(&self) -> bool {
        matches!(self, Column::Numbers(_))
    }

    /// The values as a plain page holds them, after the levels that say which are there.
    fn page(&self) -> Vec<u8> {
        match self {
            Column::Integers(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Column::Numbers(values) => {
                let levels = levels(values);
                let mut page = (levels.len() as u32).to_le_bytes().to_vec();
                page.extend(levels);
                page.extend(values.iter().flatten().flat_map(|v| v.to_le_bytes()));
                page
            }
        }
    }
}

/// Runs of present and missing values.
fn levels(values: &[Option<f64>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for run in values.chunk_by(|a, b| a.is_some() == b.is_some()) {
        varint(&mut bytes, (run.len() as u64) << 1);
        bytes.push(run.first().is_some_and(Option::is_some).into());
    }
    bytes
}

/// The file's bytes; `author` names the program. Columns must be of one length: shorter ones end the file early.
pub fn to_parquet(columns: &[(&str, Column)], author: &str) -> Vec<u8> {
    const MAGIC: &[u8] = b"PAR1";
    let rows = columns.iter().map(|(_, column)| column.len()).min().unwrap_or(0);
    let mut file = MAGIC.to_vec();
    let mut chunks = Vec::new();
    for (name, column) in columns {
        let (start, page) = (file.len(), column.page());
        file.extend(page_header(column.len(), page.len()));
        file.extend(page);
        chunks.push(chunk(name, column, start, file.len() - start));
    }
    let data = file.len() - MAGIC.len();
    let group = Struct::new().list(1, STRUCT, chunks).long(2, data as i64).long(3, rows as i64);
    let root = Struct::new().text(4, "metrics").int(5, columns.len() as i32);
    let schema = std::iter::once(root).chain(columns.iter().map(|(name, column)| {
        Struct::new().int(1, column.kind()).int(3, column.optional().into()).text(4, name)
    }));
    let footer = Struct::new()
        .int(1, 1)
        .list(2, STRUCT, schema.map(Struct::finish).collect())
        .long(3, rows as i64)
        .list(4, STRUCT, vec![group.finish()])
        .text(6, author)
        .finish();
    file.extend(&footer);
    file.extend((footer.len() as u32).to_le_bytes());
    file.extend(MAGIC);
    file
}

fn page_header(values: usize, bytes: usize) -> Vec<u8> {
    const PLAIN: i32 = 0;
    const RUNS: i32 = 3;
    let page = Struct::new().int(1, values as i32).int(2, PLAIN).int(3, RUNS).int(4, RUNS);
    let (bytes, data_page) = (bytes as i32, 0);
    Struct::new().int(1, data_page).int(2, bytes).int(3, bytes).inner(5, page).finish()
}

fn chunk(name: &str, column: &Column, start: usize, bytes: usize) -> Vec<u8> {
    let encodings = [0, 3].map(zigzag).to_vec();
    let (start, bytes) = (start as i64, bytes as i64);
    let about = Struct::new()
        .int(1, column.kind())
        .list(2, INT, encodings)
        .list(3, TEXT, vec![text_bytes(name)])
        .int(4, 0)
        .long(5, column.len() as i64)
        .long(6, bytes)
        .long(7, bytes)
        .long(9, start);
    Struct::new().long(2, start).inner(3, about).finish()
}

const INT: u8 = 5;
const LONG: u8 = 6;
const TEXT: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A structure in the compact protocol that Parquet's headers and footers are written in. Fields go up.
struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    fn new() -> Self {
        Self { bytes: Vec::new(), last: 0 }
    }

    fn field(mut self, field: u8, kind: u8, value: &[u8]) -> Self {
        self.bytes.push((field - self.last) << 4 | kind);
        self.bytes.extend(value);
        self.last = field;
        self
    }

    fn int(self, field: u8, value: i32) -> Self {
        self.field(field, INT, &zigzag(value.into()))
    }

    fn long(self, field: u8, value: i64) -> Self {
        self.field(field, LONG, &zigzag(value))
    }

    fn text(self, field: u8, value: &str) -> Self {
        self.field(field, TEXT, &text_bytes(value))
    }

    fn inner(self, field: u8, value: Struct) -> Self {
        self.field(field, STRUCT, &value.finish())
    }

    fn list(self, field: u8, kind: u8, values: Vec<Vec<u8>>) -> Self {
        let mut bytes = Vec::new();
        match u8::try_from(values.len()) {
            Ok(length) if length < 15 => bytes.push(length << 4 | kind),
            _ => {
                bytes.push(0xf0 | kind);
                varint(&mut bytes, values.len() as u64);
            }
        }
        bytes.extend(values.concat());
        self.field(field, LIST, &bytes)
    }

    fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn text_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    varint(&mut bytes, text.len() as u64);
    bytes.extend(text.as_bytes());
    bytes
}

fn zigzag(value: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    varint(&mut bytes, (value << 1 ^ value >> 63) as u64);
    bytes
}

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_their_marks_and_their_footer() {
        let file =
            to_parquet(&[("a", Column::Integers(vec![1, 2])), ("b", Column::Numbers(vec![None; 2]))], "t");
        let footer = u32::from_le_bytes(file[file.len() - 8..file.len() - 4].try_into().unwrap()) as usize;
        assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1") && footer < file.len() - 12);
        assert!(to_parquet(&[], "t").ends_with(b"PAR1"));
    }

    #[test]
    fn levels_are_runs() {
        assert_eq!(levels(&[Some(1.0), Some(2.0), None]), [4, 1, 2, 0]);
        assert_eq!(levels(&[None; 100]), [0xc8, 1, 0]);
        assert_eq!((zigzag(-1), zigzag(1), zigzag(64)), (vec![1], vec![2], vec![0x80, 1]));
    }
}
